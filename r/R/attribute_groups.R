# Columns whose descriptions hold attributes alone, such as labels and times without a zone.
# They are read together, and columns with equal descriptions share their attributes.

# The attributes in descriptions, as named lists. NULL stands for attributes that the columns imply.
given_by <- function(reader, descriptions) {
  given <- lapply(descriptions, `[[`, "attributes")
  left <- !vapply(given, are_decoded, NA)
  given[left] <- lapply(given[left], function(pairs) lapply_pairs(reader$file, pairs))
  given
}

# For each list of attributes, whether its levels are in a dictionary column.
lack_levels <- function(given) {
  names <- lapply(given, names)
  has_levels <- rep.int(seq_along(given), lengths(names))[unlist(names) == "levels"]
  lacks <- logical(length(given))
  lacks[has_levels] <- vapply(given[has_levels], function(attrs) is.null(attrs$levels), NA)
  lacks
}

# Adds columns of R that take one column of the file each and are not lists. Returns a request for
# `finish_attribute_groups`.
request_attribute_groups <- function(reader, facts, which, kinds, descriptions) {
  # Equal descriptions are one object (src/attribute_nodes_read.c).
  distinct <- .Call(C_distinct, descriptions)
  group <- distinct$group
  given <- given_by(reader, descriptions[distinct$first])
  seconds <- rep_len(1L, length(which))
  spans <- kinds == SPAN
  if (any(spans)) {
    by_group <- integer(length(given))
    by_group[unique(group[spans])] <- vapply(given[unique(group[spans])], function(attrs) seconds_of(attrs$units), 1L)
    seconds[spans] <- by_group[group[spans]]
  }
  lacks_levels <- lack_levels(given)[group]
  if (any(lacks_levels & kinds != CODES)) nonsense("levels of a vector that is not a factor")
  list(
    group = group, attributes = if (is_all(reader$rows)) given else lapply(given, row_attributes, reader$rows),
    lacks_levels = lacks_levels,
    dictionaries = facts$dictionary[which], vectors = reader_add(reader, facts, which, kinds, seconds)
  )
}

# The vectors of a request.
finish_attribute_groups <- function(reader, vectors, want) {
  levels <- NULL
  if (any(want$lacks_levels)) {
    levels <- vector("list", length(want$group))
    numbers <- want$dictionaries[want$lacks_levels]
    levels[want$lacks_levels] <- reader$levels[match(numbers, reader$dictionaries)]
  }
  .Call(C_decorate_all, vectors[want$vectors], want$group, want$attributes, levels)
}
