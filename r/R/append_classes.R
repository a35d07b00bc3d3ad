# Frames of classes with rules of their own.

# Groups are computed anew.
grown_groups <- function(old, new, fill, file) {
  if (!requireNamespace("dplyr", quietly = TRUE)) refuse_frame(old, file, "package dplyr is not installed")
  groups <- attr(old, "groups", exact = TRUE)
  by <- setdiff(names(groups), ".rows")
  is_rowwise <- has_class(old, "rowwise_df")
  attrs <- attributes(old)
  attrs[["groups"]] <- NULL
  attrs[["class"]] <- oldClass(old)[-1L]
  frame <- grown_frame(decorate(unclass_all(old), attrs), new, fill, file)
  if (is_rowwise) dplyr::rowwise(frame, dplyr::all_of(by)) else
    dplyr::grouped_df(frame, by, drop = !identical(attr(groups, ".drop"), FALSE))
}

# Joins by the `rbind` method of the class. It may be any code, so its result is checked.
grown_by_class <- function(old, new, fill, file) {
  names <- fit_frames(old, new, fill, "", file)$names
  if (!identical(oldClass(new), oldClass(old))) refuse_frame(old, file, "the rows to append are of another class")
  value <- tryCatch(rbind(old, new[names]), error = function(e) {
    refuse_frame(old, file, paste0("`rbind` of its class says: ", substr(conditionMessage(e), 1L, 200L)))
  })
  n <- .row_names_info(old, 2L) + .row_names_info(new, 2L)
  if (!is_frame(value) || !identical(oldClass(value), oldClass(old)) || .row_names_info(value, 2L) != n) refuse_frame(old, file)
  value
}

refuse_frame <- function(x, file, why = "it has attributes that depend on all rows, and no known way to join them") {
  abort("unsupported", paste0("not supported: rows cannot be appended to a frame of class ", shown_class(oldClass(x)), ": ", why,
                              " (file \"", file$path, "\"); read the file, join the frames, and write it again"),
        list(file = file$path))
}
