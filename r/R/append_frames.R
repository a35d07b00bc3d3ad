# Joins frames as `rbind()` does. The result has the attributes and class of the file.

# The frame of a file with the rows of another one after its own.
grown_frame <- function(old, new, rules) {
  file <- rules$file
  if (!is_frame_like(new)) must_be("x", "a data frame like that in the file", new)
  class <- oldClass(old)
  special <- setdiff(class, c(SIMPLE_FRAMES, "spec_tbl_df"))
  if (class[1L] %in% c("grouped_df", "rowwise_df")) {
    return(grown_groups(old, new, rules))
  }
  load_class(special)
  if (has_method_of("rbind", special)) {
    return(grown_by_class(old, new, rules))
  }
  n <- c(.row_names_info(old, 2L), .row_names_info(new, 2L))
  extra <- attributes(old)[!names(attributes(old)) %in% c(KNOWN_ATTRIBUTES, "sorted", "index", ".internal.selfref")]
  depends <- n[1L] > 1 && any(vapply(extra, depends_on_rows, NA, n[1L]))
  if (length(special) > 0L && (depends || any(special %in% names(CLASS_PACKAGES)))) refuse_frame(old, file)
  plain_grown(old, fit_frames(old, new, "", rules), new, n, rules)
}

# A data frame, tibble or data.table.
plain_grown <- function(old, fitted, new, n, rules) {
  file <- rules$file
  if (sum(as.double(n)) > .Machine$integer.max) {
    abort("unsupported", paste0("not supported: a data frame has at most 2^31 - 1 rows (file \"", file$path, "\"); begin another file"),
          list(file = file$path))
  }
  attrs <- grown_attributes(attributes(old), fitted, if (n[1L] > 0) last_rows(fitted$old, n[1L]))
  attrs["names"] <- list(fitted$names)
  attrs[["row.names"]] <- joined_row_names(old, new, n, file)
  decorate(joined_columns(fitted, rules), attrs)
}

# Groups are computed anew.
grown_groups <- function(old, new, rules) {
  if (!requireNamespace("dplyr", quietly = TRUE)) refuse_frame(old, rules$file, "package dplyr is not installed")
  groups <- attr(old, "groups", exact = TRUE)
  by <- setdiff(names(groups), ".rows")
  is_rowwise <- has_class(old, "rowwise_df")
  attrs <- attributes(old)
  attrs[["groups"]] <- NULL
  attrs[["class"]] <- oldClass(old)[-1L]
  frame <- grown_frame(decorate(unclass_all(old), attrs), new, rules)
  if (is_rowwise) dplyr::rowwise(frame, dplyr::all_of(by)) else
    dplyr::grouped_df(frame, by, drop = !identical(attr(groups, ".drop"), FALSE))
}

# The rows of a frame with the fitted columns, in the order of the file.
in_types_of_file <- function(new, fitted) {
  rows <- new[fitted$names]
  columns <- unclass_all(rows)
  columns[match(fitted$names, names_of(rows))] <- fitted$new
  decorate(columns, attributes(rows))
}

# Joins by the `rbind` method of the class. It may be any code, so its result is checked.
grown_by_class <- function(old, new, rules) {
  file <- rules$file
  fitted <- fit_frames(old, new, "", rules)
  if (!identical(oldClass(new), oldClass(old))) refuse_frame(old, file, "the rows to append are of another class")
  value <- tryCatch(rbind(old, in_types_of_file(new, fitted)), error = function(e) {
    refuse_frame(old, file, paste0("`rbind` of its class says: ", substr(conditionMessage(e), 1L, 200L)))
  })
  n <- .row_names_info(old, 2L) + .row_names_info(new, 2L)
  if (!is_frame(value) || !identical(oldClass(value), oldClass(old)) || .row_names_info(value, 2L) != n) {
    refuse_frame(old, file)
  }
  value
}
