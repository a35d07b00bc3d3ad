# Files that have a data.table, or were opened as one.

# Whether a file has a data.table, or was opened as one.
is_data_table <- function(file) isTRUE(file$as_table) || is_stored_table(file)

is_stored_table <- function(file) file$own && "data.table" %in% interpret(file, own_attribute(file, "class"))

# Makes a data.table of a frame by reference.
as_table_frame <- function(frame, why) {
  if (!requireNamespace("data.table", quietly = TRUE)) wrong(why, " needs the package data.table")
  data.table::setDT(frame)
}
