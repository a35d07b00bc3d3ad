# Reads many columns in one call: collects requests, reads them, and completes the vectors.

new_reader <- function(file, rows, lazy, depth = 1L) {
  reader <- new.env(parent = emptyenv())
  reader$file <- file
  reader$rows <- rows
  reader$lazy <- lazy
  # The depth of nested columns.
  reader$depth <- depth
  reader$parts <- NULL
  reader$n <- 0L
  reader$n_vectors <- 0L
  # Columns of lists, which are read after plain columns: the number of the vector, the cells and
  # the lengths. Then nested columns with their facts.
  reader$lists <- list()
  reader$nested <- list()
  reader
}

# Requests columns, each in its own vector or all in one. Returns the numbers of the vectors.
reader_add <- function(reader, facts, which, kind, seconds = 1L, one = FALSE) {
  if (any(kind == LIST | kind == NESTED)) {
    return(reader_add_lists(reader, facts, which, kind, seconds, one))
  }
  k <- length(which)
  encodings <- integer(k)
  numbers <- facts$number[which]
  for (i in which(kind == CHARACTER & numbers %in% reader$file$string_encodings$of)) {
    how <- describe_columns(reader$file, reader$file$string_encodings$by[match(numbers[i], reader$file$string_encodings$of)])
    if (how$physical != "u8" || how$n_values != facts$n_values[which[i]]) nonsense("an invalid column of string encodings")
    reader_add(reader, how, 1L, RAW)
    encodings[i] <- reader$n
  }
  vectors <- reader$n_vectors + if (one) rep_len(1L, k) else seq_len(k)
  reader$parts <- chain(reader$parts, list(
    column = numbers, kind = rep_len(kind, k), seconds = rep_len(seconds, k),
    quiet = as.integer(bitwAnd(facts$variant[which], VARIANT_QUIET) > 0L & reader$file$own),
    n = rep_len(count_rows(reader$rows, facts$n_values[which]), k), vector = vectors, encodings = encodings,
    lazy = rep_len(as.integer(reader$lazy), k)
  ))
  reader$n <- reader$n + k
  reader$n_vectors <- reader$n_vectors + if (one) 1L else k
  if (one) vectors[1L] else vectors
}

# Requests columns that include lists or nested columns.
reader_add_lists <- function(reader, facts, which, kind, seconds, one) {
  kind <- rep_len(kind, length(which))
  if (one) {
    reader$n_vectors <- reader$n_vectors + 1L
    if (kind[1L] == NESTED) {
      reader$nested[[length(reader$nested) + 1L]] <- list(reader$n_vectors, lapply(facts, `[`, which))
      return(reader$n_vectors)
    }
    reader$lists[[length(reader$lists) + 1L]] <- list(reader$n_vectors, facts$cell[which], facts$n_values[which], facts$name[which])
    return(reader$n_vectors)
  }
  numbers <- integer(length(which))
  apart <- kind == LIST | kind == NESTED
  numbers[!apart] <- reader_add(reader, facts, which[!apart], kind[!apart], seconds)
  for (i in which(apart)) numbers[i] <- reader_add_lists(reader, facts, which[i], kind[i], 1L, TRUE)
  numbers
}

# Reads all requested columns, as a list of vectors.
reader_run <- function(reader) {
  vectors <- reader_run_columns(reader)
  if (length(vectors) < reader$n_vectors) length(vectors) <- reader$n_vectors
  for (entry in reader$lists) {
    parts <- lapply(seq_along(entry[[2L]]), function(k) read_list(reader, lapply(entry[-1L], `[`, k)))
    vectors[[entry[[1L]]]] <- if (length(parts) == 1L) parts[[1L]] else do.call(c, parts)
  }
  for (entry in reader$nested) {
    vectors[[entry[[1L]]]] <- read_nested(reader$file, entry[[2L]], reader$rows, reader$depth)
  }
  vectors
}

# The values of a column of lists, by its cell, its length and its name, which errors report.
read_list <- function(reader, of) {
  file <- reader$file
  file$column <- of[[3L]]
  on.exit(file$column <- NULL)
  read_object_column(file, of[[1L]], of[[2L]], reader$rows)
}

reader_run_columns <- function(reader) {
  fields <- c("column", "kind", "seconds", "quiet", "n", "vector", "encodings", "lazy")
  parts <- unchain(reader$parts)
  plan <- if (length(parts) == 1L) parts[[1L]] else
    sapply(fields, function(name) unlist(lapply(parts, `[[`, name), use.names = FALSE), simplify = FALSE)
  if (reader$n == 0L) {
    return(list())
  }
  plan$foreign <- !reader$file$own
  vectors <- core(.Call(C_read, handle_of(reader$file), plan, reader$rows))
  if (is.character(vectors)) damaged(reader$file, vectors)
  rounded <- attr(vectors, "rounded")
  is_rounded <- lengths(rounded) > 0L
  if (any(is_rounded)) warn_rounded(reader$file, plan$column[is_rounded], rounded[is_rounded])
  attr(vectors, "rounded") <- NULL
  vectors
}

# The kinds of vectors for some columns.
reading_kinds <- function(file, facts, which) {
  kind <- kinds_or_na(file, facts, which)
  if (anyNA(kind)) {
    at <- which[is.na(kind)][1L]
    message <- paste0("not supported: type ", facts$type[at], " has no counterpart in R (file \"", file$path,
                      "\", column \"", facts$name[at], "\"); read other columns")
    abort("unsupported", message, list(file = file$path, column = facts$name[at]))
  }
  kind
}

# The kinds of vectors, with NA for types without counterpart in R. Without `look` at the values,
# all 64-bit integers of other hosts are INTEGER64.
kinds_or_na <- function(file, facts, which, look = TRUE) {
  logical <- facts$logical[which]
  physical <- facts$physical[which]
  kind <- unname(PLAIN_KINDS[physical])
  if (file$own) {
    kind[physical == "u8"] <- RAW
    is_time <- logical %in% c("date", "timestamp", "duration")
    if (any(is_time)) kind[is_time] <- own_time_kinds(logical[is_time], facts$variant[which[is_time]])
  } else {
    kind[logical == "date"] <- DAYS
    kind[logical == "timestamp"] <- INSTANT
    kind[logical %in% c("duration", "time")] <- SPAN
    small <- facts$precision[which] <= 15L & physical %in% c("i32", "i64")
    kind[logical == "decimal"] <- ifelse(small, DOUBLE, NA)[logical == "decimal"]
    kind[logical %in% c("period", "interval", "uuid")] <- NA
    kind[logical == "duration" & facts$unit[which] %in% c("", "Y", "M")] <- NA
    kind[logical == "timestamp" & facts$unit[which] %in% c("Y", "M")] <- NA
    if (look) kind <- integer_kinds(file, facts, which, kind)
  }
  kind[logical == "categorical"] <- CODES
  kind[logical == "object"] <- LIST
  if (!file$own) kind[physical %in% NESTED_TYPES] <- NESTED
  kind
}

# The kinds of time columns of R.
own_time_kinds <- function(logical, variant) {
  is_integer <- bitwAnd(variant, VARIANT_INTEGER) > 0L
  is_64 <- logical == "timestamp" & bitwAnd(variant, VARIANT_INTEGER64) > 0L
  doubles <- c(date = DAYS, timestamp = INSTANT, duration = SPAN)
  integers <- c(date = DAYS_INTEGER, timestamp = INSTANT_INTEGER, duration = SPAN_INTEGER)
  unname(ifelse(is_64, INTEGER64, ifelse(is_integer, integers[logical], doubles[logical])))
}

PLAIN_KINDS <- c(
  null = LOGICAL, bool = LOGICAL, i8 = INTEGER, i16 = INTEGER, i32 = INTEGER, u8 = INTEGER, u16 = INTEGER,
  u32 = DOUBLE, i64 = INTEGER64, u64 = INTEGER64, f16 = DOUBLE, f32 = DOUBLE, f64 = DOUBLE, complex64 = COMPLEX,
  complex128 = COMPLEX, utf8 = CHARACTER, binary = BYTES
)

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
  want <- list(has_attributes = "attributes" %in% names(description), attributes = attributes, s4 = isTRUE(description$s4))
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

# Reads the levels of all requested factors together, and the levels in the dictionary columns
# `more`.
reader_levels <- function(reader, wants, more = NULL) {
  numbers <- unique(c(more, dictionaries_of(wants)))
  if (length(numbers) > 1L || length(more) > 0L) {
    facts <- describe_columns(reader$file, numbers)
    levels_reader <- new_reader(reader$file, ALL_ROWS, FALSE)
    positions <- seq_along(numbers)
    if (reader$file$own && all(facts$physical == "utf8" & facts$logical == "plain")) {
      vectors <- reader_add(levels_reader, facts, positions, CHARACTER)
      reader$levels <- reader_run(levels_reader)[vectors]
    } else {
      found <- with_fitting(reader$file, lapply(positions, function(i) reader_want(levels_reader, facts, i, NULL)))
      vectors <- reader_run(levels_reader)
      reader$levels <- lapply(found, function(want) reader_finish(levels_reader, vectors, want))
    }
    reader$dictionaries <- numbers
  }
}

levels_of <- function(reader, number) {
  at <- match(number, reader$dictionaries)
  if (is.na(at)) with_fitting(reader$file, extra_values(reader$file, number)) else reader$levels[[at]]
}

# Completes the vector or list of a request.
reader_finish <- function(reader, vectors, want) {
  rows <- reader$rows
  if (!is.null(want$parts)) {
    value <- lapply(want$parts, function(part) reader_finish(reader, vectors, part))
    value <- decorate(value, part_attributes(want$attributes, rows))
    return(check_frame(value, count_rows(rows, reader$file$facts$n_rows)))
  }
  x <- if (!is.null(want$record)) {
    found <- look_at_cell(reader$file, want$record)
    if (!is_all(rows) || found$kind != CELL_LIST) nonsense("a record without its fields")
    read_reference(cells_ref(found$first, found$first + found$count), reader$file)
  } else if (is.null(want$empty)) {
    vectors[[want$vector]]
  } else {
    want$empty
  }
  if (!reader$file$own) {
    levels <- if (identical(want$kind, CODES)) levels_of(reader, want$facts$dictionary)
    return(foreign_vector(reader$file, x, want, levels))
  }
  attrs <- want$attributes
  if (!want$has_attributes && !is.null(want$kind)) {
    attrs <- if (want$kind == INTEGER64 && want$facts$logical == "timestamp") NULL else
      implied(want$kind, want$facts$ordered > 0L, want$facts$zone)
  }
  if ("levels" %in% names(attrs) && is.null(attrs$levels)) {
    attrs[["levels"]] <- levels_of(reader, want$facts$dictionary)
  }
  x <- decorate(x, row_attributes(attrs, rows), want$s4)
  if (is.list(x) || !inherits(x, c("data.frame", "POSIXlt"))) x else nonsense("a vector whose class requires a list")
}

# Checks that a data frame has as many row names as rows and as many names as columns, which R does
# not check.
check_frame <- function(x, n) {
  if (has_class(x, "data.frame")) {
    if (typeof(x) != "list" || .row_names_info(x, 2L) != n) nonsense("a data frame with the wrong number of rows")
    names <- names_of(x)
    if (!is.null(names) && length(names) != length_of(x)) nonsense("a data frame with the wrong number of names")
  }
  x
}

# Cuts attributes that have a part for each row.
row_attributes <- function(attrs, rows) {
  if (is_all(rows) || length(attrs) == 0L) {
    return(attrs)
  }
  if (!is.null(attrs$names)) {
    attrs$names <- take_rows(attrs$names, rows)
  }
  if (!is.null(attrs$dim)) {
    attrs$dim[1L] <- as.integer(count_rows(rows, attrs$dim[1L]))
  }
  if (!is.null(attrs$dimnames[[1L]])) {
    attrs$dimnames[[1L]] <- take_rows(attrs$dimnames[[1L]], rows)
  }
  if (!is.null(attrs$tsp)) {
    attrs$tsp <- NULL
    attrs$class <- setdiff(attrs$class, "ts")
    if (length(attrs$class) == 0L) attrs$class <- NULL
  }
  attrs
}

# Cuts the row names of a frame in a frame. One whose row names are not numbers is read whole: see
# `slicing_of`.
part_attributes <- function(attrs, rows) {
  if (!is_all(rows) && are_numbers(attrs$row.names)) attrs$row.names <- c(NA, -as.integer(count_rows(rows, abs(attrs$row.names[2L]))))
  attrs
}

# The values of an extra column: levels, attributes or labels.
extra_values <- function(file, number, description = NULL, rows = ALL_ROWS) {
  facts <- describe_columns(file, number)
  reader <- new_reader(file, rows, FALSE)
  want <- reader_want(reader, facts, 1L, description)
  reader_finish(reader, reader_run(reader), want)
}

read_reference.entasis_column <- function(node, file, description) extra_values(file, as.double(node), description)

# Reads a nested column, by its facts, in some rows.
read_nested <- function(file, of, rows, depth) {
  if (depth >= DEEPEST_COLUMN || of$n_children > 0 && of$first_child <= of$number) nonsense("a nested column that contains itself")
  children <- describe_columns(file, of$first_child + seq_len(of$n_children) - 1)
  check_children(of, children)
  request <- child_request(of, children, rows, read_words(file, of, structure_rows(of, rows)))
  values <- Map(function(i, rows) read_child(file, children, i, rows, depth), request$children, request$rows)
  join_children(of, children, rows, request, values)
}

# A column's structure: lengths, type ids, run starts, or 1; NA for missing values.
read_words <- function(file, of, rows) {
  reader <- new_reader(file, rows, FALSE)
  reader_add(reader, of, 1L, WORDS)
  reader_run(reader)[[1L]]
}

# The values of a child in some of its rows.
read_child <- function(file, children, i, rows, depth) {
  if (rows[[1L]] == 1L && rows[[3L]] > children$n_values[i]) nonsense("a nested column needs more values than its child has")
  reader <- new_reader(file, rows, TRUE, depth + 1L)
  want <- reader_want(reader, children, i, NULL)
  reader_finish(reader, reader_run(reader), want)
}
