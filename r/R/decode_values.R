# Decodes values in the host map, such as attributes (docs/format/hosts/). Nothing of a file is ever
# unserialized or evaluated.

# Decodes a map of a file into a value.
decode_value <- function(file, node) {
  if (!is.list(node) || is.null(names(node))) nonsense("a value is not a map")
  kind <- string_of(names(node)[1L])
  if (kind == "null") {
    return(NULL)
  }
  if (kind == "column" || kind == "cell") {
    return(read_reference(node[[1L]], file, node$of))
  }
  value <- if (kind == "list") {
    lapply(node$list, function(item) decode_value(file, item))
  } else {
    decode_inline(kind, node[[1L]])
  }
  value <- decorate(value, lapply_pairs(file, node$attributes), isTRUE(node$s4))
  if (inherits(value, "data.frame")) check_frame(value, .row_names_info(value, 2L)) else value
}

decode_inline <- function(kind, items) {
  missing <- switch(kind,
    logical = NA, integer = NA_integer_, double = NA_real_, character = NA_character_,
    nonsense("a vector of kind ", kind)
  )
  out <- rep_len(missing, length(items))
  there <- !vapply(items, is.null, NA)
  found <- items[there]
  if (!all(vapply(found, typeof, "") == kind) || !all(lengths(found) == 1L)) nonsense("a vector of several types")
  if (length(found) > 0L) {
    out[there] <- unlist(found, use.names = FALSE)
  }
  out
}

# Whether attributes come from src/attribute_nodes_read.c, by name, and not as pairs.
are_decoded <- function(pairs) is.list(pairs) && is.object(pairs)

names_of_pairs <- function(pairs) {
  if (are_decoded(pairs)) names(pairs) else vapply(pairs, function(pair) string_of(part_of(pair, 1L)), "")
}

# Attributes from pairs. NULL values stay: they stand for attributes that the column implies.
lapply_pairs <- function(file, pairs) {
  if (are_decoded(pairs)) {
    return(unclass(pairs))
  }
  attrs <- lapply(pairs, function(pair) if (!is.null(part_of(pair, 2L))) decode_value(file, pair[[2L]]))
  names(attrs) <- names_of_pairs(pairs)
  attrs
}
