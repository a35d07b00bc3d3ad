# read_entasis(), and reading of vectors and frames.

read_entasis <- function(path, columns = NULL, from = 1, to = NULL, as.data.table = FALSE, functions = FALSE,
                         int64 = c("fit", "integer64", "double"), limits = list(), generation = NULL, ...) {
  given <- other_arguments("file", ...)
  if ("file" %in% names(given)) path <- given$file
  check_flag(as.data.table, "as.data.table")
  file <- open_file(path, functions, int64, limits, generation)
  on.exit(close_file(file))
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

# The positions of columns by names, numbers or a mask.
resolve_columns <- function(names, columns, is_tibble = FALSE) resolve_positions(names, columns, "column", is_tibble)

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

# A frame of some columns, by their positions in `frame_names`, and rows.
read_frame <- function(file, which, rows) {
  if (count_rows(rows, file$facts$n_rows) > .Machine$integer.max) {
    abort("unsupported", "not supported: a data frame has at most 2^31 - 1 rows; read some of them with 'from' and 'to'")
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

# Reads columns. `frame_class` decides how some rows of a column are cut: see `slice_value`.
read_columns <- function(file, which, rows, frame_class = NULL) {
  layout <- layout_of(file)
  facts <- table_facts(file)
  descriptions <- layout$descriptions[which]
  at <- layout$first[which] + 1
  reader <- new_reader(file, rows, TRUE)
  out <- vector("list", length(which))
  described <- !vapply(descriptions, is.null, NA)
  kinds <- integer(length(which))
  kinds[!described] <- reading_kinds(file, facts, at[!described])
  # Columns with implied attributes are read together.
  plain <- !described & (kinds <= CHARACTER | has_implied(file, facts$logical[at], kinds))
  plain_vectors <- if (any(plain)) reader_add(reader, facts, at[plain], kinds[plain])
  n <- file$facts$n_rows
  slicings <- vector("list", length(which))
  is_whole <- logical(length(which))
  if (!is_all(rows) && any(described)) {
    slicings[described] <- lapply(descriptions[described], function(description) slicing_of(file, description, n))
    is_whole <- vapply(slicings, function(slicing) isTRUE(slicing$whole), NA)
  }
  grouped <- described & !is_whole & vapply(descriptions, has_attributes_alone, NA)
  kinds[grouped] <- reading_kinds(file, facts, at[grouped])
  grouped <- grouped & kinds != LIST
  attribute_request <- if (any(grouped)) request_attribute_groups(reader, facts, at[grouped], kinds[grouped], descriptions[grouped])
  others <- which(!plain & !grouped & !is_whole)
  wants <- lapply(others, function(k) reader_want(reader, facts, at[k], descriptions[[k]]))
  reader_levels(reader, wants, c(facts$dictionary[at[plain & kinds == CODES]], attribute_request$dictionaries[attribute_request$lacks_levels]))
  vectors <- reader_run(reader)
  if (any(grouped)) out[grouped] <- finish_attribute_groups(reader, vectors, attribute_request)
  out[plain] <- set_implied(reader, vectors[plain_vectors], kinds[plain], lapply(facts[FACTS_OF_KIND], `[`, at[plain]))
  out[others] <- lapply(wants, function(want) reader_finish(reader, vectors, want))
  if (any(is_whole)) out[is_whole] <- read_columns(file, which[is_whole], ALL_ROWS)
  for (k in which(lengths(slicings) > 0L)) {
    positions <- if (is_whole[k]) row_positions(rows, n) else seq_len(count_rows(rows, n))
    name <- if (!identical(file$host$form, "vector")) layout$names[which[k]]
    out[k] <- list(slice_value(out[[k]], positions, frame_class, is_whole[k], origin_of(file, name)))
  }
  if (!is_all(rows) && "tbl_df" %in% frame_class) {
    changing <- lengths(slicings) == 0L & vapply(out, is_changed_by_vctrs, NA)
    out[changing] <- lapply(out[changing], function(x) vctrs_slice(x, seq_along(x)))
  }
  out
}

own_frame <- function(file, columns, which, rows, attrs, has_row_names = TRUE) {
  host <- file$host
  n <- count_rows(rows, file$facts$n_rows)
  names <- layout_of(file)$names
  row_names <- if (!is.null(host$index) && has_row_names) {
    description <- if (is.list(host$row_names)) host$row_names
    labels <- extra_values(file, number_of(check_map(host$index)$column), NULL, rows)
    unique_labels(decorate(labels, lapply_pairs(file, description$attributes)), rows)
  } else {
    c(NA, if (identical(host$row_names, "numbers") && is_all(rows)) as.integer(n) else -as.integer(n))
  }
  is_all_columns <- identical(which, seq_len(length_of(names)))
  stored <- list(names = if (is_all_columns || is.null(names)) names else unclass_all(names)[which], row.names = row_names)
  for (name in intersect(names(stored), names(attrs))) {
    attrs[name] <- stored[name]
  }
  frame <- check_frame(decorate(columns, attrs), n)
  if (inherits(frame, "data.table") && requireNamespace("data.table", quietly = TRUE)) {
    frame <- data.table::setalloccol(frame)
  }
  frame
}

foreign_frame <- function(file, which, rows) {
  n <- count_rows(rows, file$facts$n_rows)
  n_labels <- length(label_names(file))
  is_label <- which <= n_labels
  columns <- vector("list", length(which))
  columns[is_label] <- label_columns(file, which[is_label], rows)
  columns[!is_label] <- read_columns(file, which[!is_label] - n_labels, rows)
  labels <- foreign_row_names(file, rows)
  row_names <- if (is.null(labels)) c(NA, -as.integer(n)) else unique_labels(labels, rows)
  decorate(columns, list(names = frame_names(file)[which], class = "data.frame", row.names = row_names))
}
