# The lazy object of a frame: a table, whose `[` may follow the rules of data.table.

# The lazy object of an open frame. Its attribute `sorted` is where data.table::key() looks.
lazy_frame <- function(file) {
  if (!is_data_table(file)) {
    return(lazy_object(file, "entasis_table"))
  }
  x <- lazy_object(file, c("entasis_data_table", "entasis_table"))
  key <- if (!isTRUE(file$as_table)) interpret(file, own_attribute(file, "sorted"))
  if (is.character(key) && all(key %in% frame_names(file))) attr(x, "sorted") <- key
  x
}
