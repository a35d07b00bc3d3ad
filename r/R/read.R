# read_entasis(): reads the value of a file, or some columns and rows of a frame.

read_entasis <- function(path, columns = NULL, from = 1, to = NULL, as.data.table = FALSE, functions = FALSE,
                         int64 = c("fit", "integer64", "double"), limits = list(), generation = NULL, ..., key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  given <- other_arguments("file", ...)
  if ("file" %in% names(given)) path <- given$file
  check_flag(as.data.table, "as.data.table")
  part <- if (is.null(generation)) open_fst(path, columns, from, to, functions, int64, limits)
  file <- if (is.null(part)) open_file(path, functions, int64, limits, generation) else part
  if (!is.null(part)) {
    from <- 1
    to <- NULL
  }
  on.exit(close_file(file), add = TRUE)
  if (is_tree(file)) {
    whole <- is.null(columns) && is.null(to) && identical(as.double(from), 1)
    if (!whole) wrong("the file holds a tree of values: entasis() reads parts of it")
    return(read_tree(file))
  }
  if (file$own && identical(file$host$form, "vector")) {
    if (!is.null(columns)) wrong("the file holds a vector, which has no columns")
    return(in_session(file, read_vector(file, range_of(file, from, to))))
  }
  layout <- layout_of(file)
  which <- if (is.null(columns)) seq_along(layout$first) else resolve_columns(layout$names, columns)
  n_labels <- length(label_names(file))
  frame <- read_frame(file, c(seq_len(n_labels), n_labels + which), range_of(file, from, to))
  if (isTRUE(as.data.table) && !inherits(frame, "data.table")) as_table_frame(frame, "as.data.table = TRUE") else frame
}

# The rows from one number to another, both included. Rows after the last one are ignored.
range_of <- function(file, from, to) {
  n <- file$facts$n_rows
  from <- check_whole(from, "from", 1)
  # Rows after the last one are ignored, so `to` may be any number.
  if (is.numeric(to) && is.null(oldClass(to)) && length(to) == 1L && isTRUE(to > n)) to <- NULL
  to <- if (is.null(to)) n else min(check_whole(to, "to", 1), n)
  if (from > n && !(from == 1 && n == 0)) {
    wrong("'from' is ", shown_number(from), ", the table has ", counted(n, "row"))
  }
  if (to < from - 1) wrong("'from' must not be greater than 'to'")
  row_range(from - 1, to, n)
}
