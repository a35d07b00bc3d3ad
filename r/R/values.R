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
