# Encodes vectors as columns, and values such as attributes in the host map. Atomic vectors and
# lists of them, each with its attributes, become maps whose key is their type (docs/format/hosts/).
# Long vectors among these are columns, which have attributes too.

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

# Adds a vector as `parts` columns of equal length. Returns the number of the first column, and a
# description of the attributes that the kind does not imply, or NULL.
plan_vector <- function(plan, extra, x, names, path, parts = 1L) {
  chosen <- kind_by(typeof(x), attributes(x), isS4(x))
  n <- if (parts == 0L) 0 else length_of(x) / parts
  offsets <- if (parts == 0L) double() else n * (seq_len(parts) - 1)
  if (chosen$kind == LIST) {
    # The values of a list are cells.
    bare <- unclass_all(x)
    first <- NULL
    for (k in seq_len(parts)) {
      part <- if (parts == 1L) bare else bare[offsets[k] + seq_len(n)]
      cell <- document_walk(plan$doc, part, path)
      number <- plan_add(plan, extra, names[k], list(part), LIST, n, cell = cell)
      first <- if (is.null(first)) number else first
    }
  } else {
    chosen <- fit_kind(
      chosen, list(x), if (!extra) stored_forms(plan, plan$n_columns + 1L), if (extra) "first" else plan$times
    )
    if (!chosen$fits) chosen$implied_attrs <- NULL
    if (chosen$kind == CODES) {
      levels <- attr(x, "levels", exact = TRUE)
      chosen$levels <- plan_add(plan, TRUE, "", list(levels), CHARACTER, length(levels))
      chosen$n_levels <- length(levels)
    }
    columns <- chosen[setdiff(names(chosen), c("implied_attrs", "fits"))]
    first <- do.call(plan_add, c(list(plan, extra, names, rep_len(list(x), parts), n = n, offset = offsets), columns))
  }
  list(first = first, description = describe(plan, x, chosen$implied_attrs, path))
}

# The description of a vector: what the kind of its column does not imply.
describe <- function(plan, x, implied_attrs, path) {
  attrs <- attributes(x)
  description <- list()
  same <- identical(names(attrs), names(implied_attrs)) &&
    all(
      vapply(
        names(implied_attrs),
        function(name) is.null(implied_attrs[[name]]) || identical(attrs[[name]], implied_attrs[[name]]), NA
      )
    )
  if (!same) {
    description$attributes <- encode_attributes(
      plan, attrs, path, skip = if ("levels" %in% names(implied_attrs)) "levels"
    )
  }
  if (isS4(x)) {
    description$s4 <- TRUE
  }
  if (length(description) > 0L) description
}
