# Requests for columns as vectors of R, with their descriptions.

# Requests a column of R, which starts at the file's column `which` of `facts`. Returns the request
# for `reader_finish`.
reader_want <- function(reader, facts, which, description) {
  file <- reader$file
  check_map(description)
  if ("parts" %in% names(description)) {
    parts <- list()
    for (i in seq_along(description$parts)) {
      parts[[i]] <- reader_want(reader, facts, which, description$parts[[i]])
      which <- which + width_of(description$parts[[i]])
    }
    return(list(parts = parts, attributes = lapply_pairs(file, description$attributes)))
  }
  attributes <- described_attributes(reader, description$attributes)
  want <- list(
    has_attributes = "attributes" %in% names(description), attributes = attributes, s4 = isTRUE(description$s4)
  )
  if (!is.null(description$matrix)) {
    width <- width_of(description)
    if (width == 0) {
      type <- string_of(description$of)
      if (!type %in% names(BY_TYPE)) nonsense("a matrix of type ", type)
      want$empty <- vector(type, 0L)
      return(want)
    }
    which <- which + seq_len(width) - 1
  }
  kind <- reading_kinds(file, facts, which)
  if (kind[1L] == LIST && "vctrs_rcrd" %in% attributes[["class"]]) {
    # Files of version 0.1.0 store the fields of a record in a column of lists.
    want$record <- facts$cell[which]
    return(want)
  }
  if (any(kind != kind[1L])) nonsense("a matrix whose columns differ in type")
  seconds <- if (kind[1L] == SPAN && file$own) seconds_of(attributes$units) else 1L
  want$kind <- kind[1L]
  want$facts <- lapply(if (file$own) facts[FACTS_OF_KIND] else facts, `[`, which[1L])
  want$vector <- reader_add(reader, facts, which, kind, seconds, one = TRUE)
  want
}

# The seconds in a unit of difftime; 1 for a unit of another class.
seconds_of <- function(units) {
  if (!is.character(units)) {
    return(1L)
  }
  if (!string_of(units) %in% names(DIFFTIME_SECONDS)) nonsense("a difftime in ", units)
  DIFFTIME_SECONDS[[units]]
}

# The facts that `reader_finish` needs of a column of R.
FACTS_OF_KIND <- c("logical", "ordered", "zone", "dictionary")

# The attributes in a description. Neighbouring columns mostly have equal ones, so the last ones are
# cached.
described_attributes <- function(reader, pairs) {
  if (is.null(pairs)) {
    return(list())
  }
  if (!identical(reader$pairs, pairs, num.eq = FALSE, single.NA = FALSE, attrib.as.set = FALSE)) {
    reader$attributes <- lapply_pairs(reader$file, pairs)
    reader$pairs <- pairs
  }
  reader$attributes
}

# The numbers of the dictionary columns of all requested factors.
dictionaries_of <- function(wants) {
  unlist(lapply(wants, function(want) {
    if (!is.null(want$parts)) dictionaries_of(want$parts) else if (identical(want$kind, CODES)) want$facts$dictionary
  }))
}
