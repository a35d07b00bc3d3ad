# Files that have a data.table, or were opened as one.

# Whether a file has a data.table, or was opened as one.
is_data_table <- function(file) isTRUE(file$as_table) || is_stored_table(file)

is_stored_table <- function(file) file$own && "data.table" %in% interpret(file, own_attribute(file, "class"))

# A data.table of a frame, with the classes that `setDT` keeps. Its columns stay lazy, which `setDT`
# would load.
as_table_frame <- function(frame, why) {
  if (!requireNamespace("data.table", quietly = TRUE)) wrong(why, " needs the package data.table")
  classes <- oldClass(frame)
  n <- .row_names_info(frame, 2L)
  oldClass(frame) <- unique(c("data.table", "data.frame", classes[seq_along(classes) > match("data.frame", classes)]))
  attr(frame, "row.names") <- .set_row_names(n)
  data.table::setalloccol(frame)
}
