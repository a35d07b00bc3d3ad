# Reads vectors and frames.

# A frame of some columns, by their positions in `frame_names`, and rows.
read_frame <- function(file, which, rows) {
  if (count_rows(rows, file$facts$n_rows) > .Machine$integer.max) {
    abort(
      "unsupported",
      "not supported: a data frame has at most 2^31 - 1 rows; read some of them with 'from' and 'to'"
    )
  }
  if (isTRUE(file$as_table)) {
    return(as_table_frame(read_unclassed(file, which, rows), "as = \"data.table\""))
  }
  in_session(file, {
    if (file$own && !(is_all(rows) && identical(as.integer(which), seq_along(layout_of(file)$first)))) {
      some_of_frame(file, which, rows)
    } else {
      interpret(file, {
        if (file$own) own_frame(file, read_columns(file, which, rows), which, rows, own_attributes(file)) else foreign_frame(file, which, rows)
      })
    }
  })
}

# A data frame of some columns and rows, without the class and attributes of the frame.
read_unclassed <- function(file, which, rows, columns = read_columns(file, which, rows, KEEPING)) {
  bare <- list(names = NULL, class = "data.frame", row.names = NULL)
  in_session(file, interpret(file, {
    if (file$own) own_frame(file, columns, which, rows, bare) else foreign_frame(file, which, rows)
  }))
}

read_vector <- function(file, rows) {
  layout <- layout_of(file)
  if (length(layout$first) != 1L) interpret(file, nonsense("a vector of several columns"))
  description <- layout$descriptions[[1L]]
  if (!is_all(rows)) {
    value <- interpret(file, some_values(file, description, rows))
    if (!is.null(value)) {
      return(value)
    }
  }
  interpret(file, read_columns(file, 1L, rows)[[1L]])
}

# Some values of a file with one array, whose class may treat a row as a value, as Surv does. NULL
# for vectors.
some_values <- function(file, description, rows) {
  if (!"dim" %in% names_of_pairs(description$attributes)) {
    return(NULL)
  }
  x <- read_columns(file, 1L, ALL_ROWS)[[1L]]
  load_class(oldClass(x))
  n <- length(x)
  if (n == prod(attr(x, "dim"))) wrong("'from' and 'to' are for vectors, not for arrays")
  at <- row_positions(rows, n)
  slice_value(x, at[at <= n], NULL, TRUE, origin_of(file, NULL))
}

# The whole value of a file of R.
value_of <- function(file) {
  if (identical(file$host$form, "vector")) {
    return(in_session(file, read_vector(file, ALL_ROWS)))
  }
  read_frame(file, seq_along(layout_of(file)$first), ALL_ROWS)
}
