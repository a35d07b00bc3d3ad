# Values in the host map, such as attributes. Atomic vectors and lists of them, each with its
# attributes, become maps whose key is their type (docs/format/hosts/). Nothing of a file is ever
# unserialized or evaluated.

# Vectors of up to this many values are stored in the host map, longer ones in columns.
INLINE <- 32L

encode_value <- function(plan, x, path) {
  if (is.null(x)) {
    return(list(null = NULL))
  }
  type <- typeof(x)
  if (!is_inline_tree(x)) {
    return(list(cell = cell_ref(document_walk(plan$doc, x, path))))
  }
  if (type == "list") {
    names <- names_of(x)
    positions <- seq_len(length_of(x))
    paths <- if (is.null(names)) paste0(path, "[[", positions, "]]", recycle0 = TRUE) else paste0(path, "$", names, recycle0 = TRUE)
    items <- lapply(positions, function(i) encode_value(plan, .subset2(x, i), paths[i]))
    return(with_attributes(plan, list(list = items), x, path))
  }
  if (is_inline(x, type)) {
    value <- list(as.list(unclass_all(x)))
    names(value) <- type
    return(with_attributes(plan, value, x, path))
  }
  planned <- plan_vector(plan, TRUE, x, "", path)
  c(list(column = extra_ref(planned$first)), if (!is.null(planned$description)) list(of = planned$description))
}

# Whether a value can be stored in the host map: an atomic vector, or a short list of atomic
# vectors. Other values become cells.
is_inline_tree <- function(x, depth = 0L) {
  if (is.null(x)) {
    return(TRUE)
  }
  if (typeof(x) == "list") {
    if (length_of(x) > INLINE || depth > 4L) {
      return(FALSE)
    }
    inline <- vapply(unclass(x), is_inline_tree, NA, depth + 1L, USE.NAMES = FALSE)
    if (!all(inline)) {
      return(FALSE)
    }
  } else if (!is.atomic(x)) {
    return(FALSE)
  }
  attrs <- attributes(x)
  all(vapply(attrs[names(attrs) != ".internal.selfref"], is_inline_tree, NA, depth + 1L, USE.NAMES = FALSE))
}

# Whether a vector is short, and nodes represent its values exactly.
is_inline <- function(x, type) {
  if (length_of(x) > INLINE || type == "complex" || type == "raw") {
    return(FALSE)
  }
  if (type != "character") {
    return(TRUE)
  }
  x <- unclass_all(x)
  there <- x[!is.na(x)]
  all(Encoding(there) == "UTF-8" & validUTF8(there) | is_ascii(there))
}

is_ascii <- function(x) !grepl("[^ -~\t\r\n]", x, useBytes = TRUE)

with_attributes <- function(plan, value, x, path) {
  attrs <- attributes(x)
  if (!is.null(attrs)) {
    if (is_frame_like(x)) {
      attrs[["row.names"]] <- .row_names_info(x, 0L)
    }
    value$attributes <- encode_attributes(plan, attrs, path)
  }
  if (isS4(x)) {
    value$s4 <- TRUE
  }
  value
}

# Attributes as pairs of a name and a value, in order. The value is null for attributes that the
# column implies.
encode_attributes <- function(plan, attrs, path, skip = NULL) {
  # data.table keeps the address of its memory there, and makes a new one.
  attrs <- attrs[names(attrs) != ".internal.selfref"]
  lapply(seq_along(attrs), function(i) {
    name <- names(attrs)[i]
    if (name %in% skip) {
      list(name, NULL)
    } else {
      list(enc2utf8(name), encode_value(plan, attrs[[i]], paste0("attr(", path, ", \"", name, "\")")))
    }
  })
}

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

# Sets the attributes of a new value in place.
decorate <- function(x, attrs, s4 = FALSE) {
  if (length(attrs) == 0L && !s4) {
    return(x)
  }
  .Call(C_decorate, x, attrs, s4)
}
