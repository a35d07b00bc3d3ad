# Joins frames as `rbind()` does. Attributes and class are those of the file.

# Fits the columns of a frame. Returns lists of columns in the order of the file, and whether a type
# of the file changes. `missing` is whether all values of each column of the file are NA; NULL to
# look.
fit_frames <- function(old, new, fill, within, file, missing = NULL) {
  names <- names_of(old)
  at <- column_positions(old, new, fill, within, file)
  n <- .row_names_info(new, 2L)
  of_old <- unclass_all(old)
  of_new <- unclass_all(new)
  grows <- FALSE
  columns <- vector("list", length(of_old))
  for (k in seq_along(of_old)) {
    label <- paste0(within, if (is.null(names)) k else names[k])
    x <- of_old[[k]]
    if (is.na(at[k])) {
      columns[[k]] <- filled(x, n, label, file)
      next
    }
    fitted <- fit_column(x, of_new[[at[k]]], label, if (is.null(missing)) is_all_missing(x) else missing[k], file)
    columns[[k]] <- fitted$new
    grows <- grows || fitted$grows
    of_old[[k]] <- fitted$old
  }
  list(old = of_old, new = columns, grows = grows, names = names)
}

# A column of NA.
filled <- function(like, n, label, file) {
  if (is_frame_like(like)) {
    attrs <- attributes(like)
    attrs[["row.names"]] <- c(NA, -n)
    return(decorate(lapply(unclass_all(like), filled, n, label, file), attrs))
  }
  if (is_parted(like) || is.raw(like)) {
    wrong_column(file, label, "column '", label, "' of type ", shown_type(like), " has no NA: the rows to append must have it")
  }
  missing_like(like, n)
}

joined_columns <- function(fitted, file) {
  labels <- if (is.null(fitted$names)) seq_along(fitted$old) else fitted$names
  Map(function(old, new, label) join_columns_of(old, new, label, file), fitted$old, fitted$new, labels, USE.NAMES = FALSE)
}

grown_frame <- function(old, new, fill, file) {
  if (!is_frame_like(new)) must_be("x", "a data frame like that in the file", new)
  class <- oldClass(old)
  special <- setdiff(class, c(SIMPLE_FRAMES, "spec_tbl_df"))
  known <- GROWN_BY_CLASS[[class[1L]]]
  if (!is.null(known)) {
    return(known(old, new, fill, file))
  }
  load_class(special)
  has_own <- any(vapply(special, function(name) !is.null(getS3method("rbind", name, optional = TRUE, envir = globalenv())), NA))
  if (has_own) {
    return(grown_by_class(old, new, fill, file))
  }
  n <- c(.row_names_info(old, 2L), .row_names_info(new, 2L))
  extra <- attributes(old)[!names(attributes(old)) %in% c(KNOWN_ATTRIBUTES, "sorted", "index", ".internal.selfref")]
  depends <- n[1L] > 1 && any(vapply(extra, depends_on_rows, NA, n[1L]))
  if (length(special) > 0L && (depends || any(special %in% names(CLASS_PACKAGES)))) refuse_frame(old, file)
  plain_grown(old, fit_frames(old, new, fill, "", file), new, n, file)
}

# A data frame, tibble or data.table.
plain_grown <- function(old, fitted, new, n, file) {
  if (sum(as.double(n)) > .Machine$integer.max) {
    abort("unsupported", paste0("not supported: a data frame has at most 2^31 - 1 rows (file \"", file$path, "\"); begin another file"), list(file = file$path))
  }
  attrs <- grown_attributes(attributes(old), fitted, if (n[1L] > 0) last_rows(fitted$old, n[1L]))
  attrs[["row.names"]] <- joined_row_names(old, new, n, "", file)
  decorate(joined_columns(fitted, file), attrs)
}

# The attributes of a frame with more rows: the key of a data.table stays if it holds, its indices
# go. `last` has the last row of each column of the file.
grown_attributes <- function(attrs, fitted, last) {
  attrs <- attrs[!names(attrs) %in% c("index", ".internal.selfref")]
  if (!is.null(attrs$sorted) && !holds_key(attrs$sorted, fitted, last)) attrs$sorted <- NULL
  attrs
}

last_rows <- function(columns, n) lapply(columns, function(x) if (is_parted(x)) x else subset_bare(x, n))

subset_bare <- function(x, at) decorate(unclass_all(x)[at], row_independent(attributes(x)))

# Whether the new rows are in the order of the key, and not before the last row of the file.
holds_key <- function(key, fitted, last) {
  at <- match(key, fitted$names)
  if (!anyNA(at) && length_of(fitted$new[[at[1L]]]) == 0L) {
    return(TRUE)
  }
  if (anyNA(at) || !requireNamespace("data.table", quietly = TRUE)) {
    return(FALSE)
  }
  columns <- lapply(at, function(k) decorate(c(unclass_all(last[[k]]), unclass_all(fitted$new[[k]])), row_independent(attributes(fitted$new[[k]]))))
  names(columns) <- paste0("key", seq_along(columns))
  columns$place <- seq_along(columns[[1L]])
  table <- data.table::setDT(columns)
  # Sorting is stable, so rows in order keep their places.
  data.table::setkeyv(table, setdiff(names(table), "place"))
  !is.unsorted(table$place)
}

# The row names that `rbind()` gives. Tibbles and data.tables number their rows.
joined_row_names <- function(old, new, n, label, file) {
  if (has_class(old, "tbl_df") || has_class(old, "data.table") || rows_go_on(old, new, n)) {
    return(c(NA, -as.integer(sum(n))))
  }
  if (!counts_rows(old) && !counts_rows(new)) {
    again <- intersect(row_names_of(old), row_names_of(new))
    if (length(again) > 0L) {
      wrong_column(file, NA_character_, "row names of the rows to append are in the file already: ", listed(again), "; rename them")
    }
  }
  frames <- lapply(list(old, new), function(x) {
    structure(list(row = integer(.row_names_info(x, 2L))), class = "data.frame", row.names = row_names_of(x))
  })
  .row_names_info(rbind(frames[[1L]], frames[[2L]]), 0L)
}

row_names_of <- function(x) attr(x, "row.names", exact = TRUE)

# Whether row names are 1, 2, 3 ...
counts_rows <- function(x) is_numbered(x) || identical(row_names_of(x), seq_len(.row_names_info(x, 2L)))

# Whether the row names of both are numbers that go on.
rows_go_on <- function(old, new, n) {
  if (n[1L] > 0 && !counts_rows(old)) {
    return(FALSE)
  }
  n[2L] == 0 || counts_rows(new) || identical(row_names_of(new), as.integer(n[1L]) + seq_len(n[2L]))
}

# Groups are computed anew.
grown_groups <- function(old, new, fill, file) {
  if (!requireNamespace("dplyr", quietly = TRUE)) refuse_frame(old, file, "package dplyr is not installed")
  groups <- attr(old, "groups", exact = TRUE)
  by <- setdiff(names(groups), ".rows")
  is_rowwise <- has_class(old, "rowwise_df")
  attrs <- attributes(old)
  attrs$groups <- NULL
  attrs$class <- setdiff(attrs$class, oldClass(old)[1L])
  frame <- grown_frame(decorate(unclass_all(old), attrs), new, fill, file)
  if (is_rowwise) dplyr::rowwise(frame, dplyr::all_of(by)) else dplyr::grouped_df(frame, by, drop = !identical(attr(groups, ".drop"), FALSE))
}

GROWN_BY_CLASS <- list(grouped_df = grown_groups, rowwise_df = grown_groups)

# Joins by the `rbind` method of the class, which may be any code, so its result is checked.
grown_by_class <- function(old, new, fill, file) {
  names <- fit_frames(old, new, fill, "", file)$names
  if (!identical(oldClass(new), oldClass(old))) refuse_frame(old, file, "the rows to append are of another class")
  value <- tryCatch(rbind(old, new[names]), error = function(e) refuse_frame(old, file, paste0("`rbind` of its class says: ", substr(conditionMessage(e), 1L, 200L))))
  n <- .row_names_info(old, 2L) + .row_names_info(new, 2L)
  if (!is_frame(value) || !identical(oldClass(value), oldClass(old)) || .row_names_info(value, 2L) != n) refuse_frame(old, file)
  value
}

refuse_frame <- function(x, file, why = "it has attributes that depend on all rows, and no known way to join them") {
  abort("unsupported", paste0("not supported: rows cannot be appended to a frame of class ", shown_class(oldClass(x)), ": ", why,
                              " (file \"", file$path, "\"); read the file, join the frames, and write it again"),
        list(file = file$path))
}
