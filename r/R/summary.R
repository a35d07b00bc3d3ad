# summary() of an open table, which reads one column after another.

# summary.data.frame() gets a frame whose columns are read when they are summarised. Classes with a
# summary of their own get the whole frame.
summary.entasis_table <- function(object, ...) {
  file <- file_of(object)
  class <- if (file$own) interpret(file, own_attribute(file, "class")) else "data.frame"
  if (!all(class %in% SIMPLE_FRAMES) || is.null(names(object))) {
    return(summary(object[], ...))
  }
  columns <- lapply(seq_along(names(object)), unread_column, file = file)
  summary.data.frame(
    decorate(columns, list(names = names(object), class = "data.frame", row.names = .set_row_names(0L))), ...
  )
}

unread_column <- function(k, file) structure(list(file = file, k = k), class = "entasis_unread")

summary.entasis_unread <- function(object, ...) summary(read_column(object$file, object$k), ...)
