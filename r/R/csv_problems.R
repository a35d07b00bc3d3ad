# Places of a text that do not fit.

# The problems that were found, as a data frame.
problems_of <- function(csv) {
  found <- data.frame(
    row = csv$rows + 1, line = csv$lines, byte = csv$bytes, column = csv$columns, text = csv$texts,
    expected = csv$expected, stringsAsFactors = FALSE
  )
  if (!all(is.na(csv$files))) found$file <- csv$files
  found
}

# The frame with the problems as an attribute, and a warning.
with_problems <- function(frame, csv) {
  found <- warn_of_problems(csv)
  if (is.null(found)) {
    return(frame)
  }
  if (inherits(frame, "data.table")) data.table::setattr(frame, "problems", found) else attr(frame, "problems") <- found
  frame
}

# Warns of problems, and returns them; NULL for none.
warn_of_problems <- function(csv) {
  n <- csv$counts[2L]
  if (n == 0) {
    return(NULL)
  }
  found <- problems_of(csv)
  first <- found[1L, ]
  where <- paste0(
    "line ", shown_number(first$line),
    if (!is.na(first$column)) paste0(", column '", substr(first$column, 1L, 60L), "'")
  )
  text <- paste0(counted(n, "problem"), ", the first in ", where, ": attr(x, \"problems\") lists them")
  warning(
    structure(
      list(message = text, call = NULL, problems = found),
      class = c("entasis_warning_problems", "warning", "condition")
    )
  )
  found
}

# Raises the error of a text with places that do not fit. Its field `problems` lists them.
refuse_text <- function(csv) {
  failure <- csv$refused
  message <- paste0(csv_words(failure$message), "; on_error = \"missing\" or \"skip\" reads the rest")
  tryCatch(abort(failure$kind, message, unclass(failure)), entasis_error = function(error) {
    error$problems <- problems_of(csv)
    error$call <- users_call()
    stop(error)
  })
}
