# Results of methods of classes, which may be any code, and errors for rows that they cannot cut.

# Evaluates a call of a method that cuts `n` rows of `of`. A method may be any code, so its result
# is checked.
by_class <- function(class, origin, of, n, expr, names = names_of(of)) {
  value <- tryCatch(expr, error = function(e) {
    if (inherits(e, "entasis_error")) stop(e)
    refuse_rows(
      origin, paste0("`[` of its class ", shown_class(class), " says: ", substr(conditionMessage(e), 1L, 200L)),
      NULL
    )
  })
  wrong <- wrong_part(value, of, n, names)
  if (!is.null(wrong)) refuse_rows(origin, paste0("`[` of its class ", shown_class(class), " gives ", wrong), NULL)
  value
}

# Why a value is not a part of `of` with `n` rows, or NULL. The class of a frame may add columns.
wrong_part <- function(value, of, n, names = names_of(of)) {
  if (typeof(value) != typeof(of) && !is_widened(value, of)) {
    return(paste("a value of type", typeof(value)))
  }
  if (!is_frame_like(of)) {
    return(if (!identical(rows_of(value), as.double(n))) "another number of rows")
  }
  if (!is_frame_like(value) || .row_names_info(value, 2L) != n || length(names_of(value)) != length_of(value)) {
    return("no frame of these rows")
  }
  if (!all(names %in% names_of(value))) {
    return("other columns")
  }
  from <- same_columns(value, of)
  for (k in seq_along(from)) {
    x <- .subset2(value, k)
    wrong <- wrong_part(x, if (is.na(from[k])) x else .subset2(of, from[k]), n)
    if (!is.null(wrong)) {
      return(paste0(wrong, ", in column \"", substr(names_of(value)[k], 1L, 100L), "\""))
    }
  }
}

# Whether numbers have a wider type than before: vctrs makes doubles of dates, times and durations
# that are integers or all missing.
is_widened <- function(value, of) {
  widths <- c("logical", "integer", "double")
  isTRUE(match(typeof(value), widths) > match(typeof(of), widths))
}

refuse_rows <- function(origin, why, how) {
  abort("unsupported", paste0("not supported: some rows of ", origin$what, " can't be read by themselves: ", why, " (file \"", origin$file, "\"); ",
                              if (!is.null(how)) paste0(how, ", or "), "read all rows"),
        list(file = origin$file, column = origin$column))
}

origin_of <- function(file, name) {
  if (is.null(name)) list(file = file$path, what = "the vector", column = NA_character_) else
    list(file = file$path, what = paste0("column \"", name, "\""), column = name)
}

the_frame <- function(file) list(file = file$path, what = "the frame", column = NA_character_)
