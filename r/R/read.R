# Reading files: the functions that man/read_entasis.Rd tells of.

read_entasis <- function(path, columns = NULL, from = 1, to = NULL, as.data.table = FALSE, functions = FALSE,
                         int64 = c("fit", "integer64", "double")) {
  check_flag(as.data.table, "as.data.table")
  file <- open_file(path, functions, int64)
  on.exit(close_file(file))
  if (is_tree(file)) {
    whole <- is.null(columns) && is.null(to) && identical(as.double(from), 1)
    if (!whole) wrong("the file holds a tree of values, of which entasis() reads parts")
    return(read_tree(file))
  }
  if (file$own && identical(file$host$form, "vector")) {
    if (!is.null(columns)) wrong("the file holds a vector, which has no columns")
    return(in_session(file, read_vector(file, range_of(file, from, to))))
  }
  layout <- layout_of(file)
  which <- if (is.null(columns)) seq_along(layout$first) else resolve_columns(layout$names, columns)
  frame <- read_frame(file, which, range_of(file, from, to))
  if (isTRUE(as.data.table) && !inherits(frame, "data.table")) {
    if (!requireNamespace("data.table", quietly = TRUE)) wrong("as.data.table = TRUE needs the package data.table")
    frame <- data.table::setDT(frame)
  }
  frame
}

# Rows from one to another, both included, from 1 on. What is behind the last row is not asked for.
range_of <- function(file, from, to) {
  n <- file$facts$n_rows
  from <- check_whole(from, "from", 1)
  to <- if (is.null(to) || identical(to, Inf)) n else min(check_whole(to, "to", 1), n)
  if (from > n && !(from == 1 && n == 0)) {
    wrong("'from' is ", format(from, scientific = FALSE), ", the table has ", format(n, scientific = FALSE), " rows")
  }
  if (to < from - 1) wrong("'from' must not be greater than 'to'")
  row_range(from - 1, to, n)
}

# Positions of columns that are asked for by name or number.
resolve_columns <- function(names, columns) {
  k <- length(names)
  if (is.character(columns)) {
    found <- match(columns, names)
    if (anyNA(found)) {
      missing <- columns[is.na(found)][1L]
      abort("argument", paste0("there is no column '", missing, "'"), list(column = missing))
    }
    return(found)
  }
  if (is.logical(columns)) {
    if (length(columns) != k || anyNA(columns)) wrong("a mask of columns must have length ", k, " and no NA")
    return(which(columns))
  }
  if (!is.numeric(columns) || anyNA(columns)) wrong("columns must be names, numbers or a mask, not ", what_is(columns))
  if (length(columns) > 0L && all(columns < 0)) columns <- seq_len(k)[columns]
  if (any(columns < 1 | columns > k)) wrong("column numbers must be from 1 to ", k, ", not ", columns[columns < 1 | columns > k][1L])
  as.integer(columns)
}

read_vector <- function(file, rows) {
  layout <- layout_of(file)
  interpret(file, {
    if (length(layout$first) != 1L) nonsense("a vector of several columns")
    attributes <- layout$descriptions[[1L]]$attributes
    has_dim <- any(vapply(attributes, function(pair) identical(pair[[1L]], "dim"), NA))
    if (has_dim && !is_all(rows)) wrong("'from' and 'to' are for vectors, not for arrays")
    reader <- new_reader(file, rows, TRUE)
    want <- reader_want(reader, table_facts(file), 1L, layout$descriptions[[1L]])
    reader_finish(reader, reader_run(reader), want)
  })
}

# A frame of these columns, by their positions, and rows.
read_frame <- function(file, which, rows) {
  if (count_rows(rows, file$facts$n_rows) > .Machine$integer.max) {
    abort("unsupported", "not supported: a data frame has at most 2^31 - 1 rows; read some of them with 'from' and 'to'")
  }
  in_session(file, interpret(file, {
    columns <- read_columns(file, which, rows)
    if (file$own) own_frame(file, columns, which, rows) else foreign_frame(file, columns, which, rows)
  }))
}

read_columns <- function(file, which, rows) {
  layout <- layout_of(file)
  facts <- table_facts(file)
  descriptions <- layout$descriptions[which]
  at <- layout$first[which] + 1
  reader <- new_reader(file, rows, TRUE)
  out <- vector("list", length(which))
  described <- !vapply(descriptions, is.null, NA)
  kinds <- integer(length(which))
  kinds[!described] <- reading_kinds(file, facts, at[!described])
  # Kinds without attributes of their own, or that other hosts write otherwise: all at once.
  bare <- !described & kinds <= CHARACTER
  bare_vectors <- if (any(bare)) reader_add(reader, facts, at[bare], kinds[bare])
  others <- which(!bare)
  wants <- lapply(others, function(k) reader_want(reader, facts, at[k], descriptions[[k]]))
  reader_levels(reader, wants)
  vectors <- reader_run(reader)
  out[bare] <- vectors[bare_vectors]
  out[others] <- lapply(wants, function(want) reader_finish(reader, vectors, want))
  out
}

own_frame <- function(file, columns, which, rows) {
  host <- file$host
  n <- count_rows(rows, file$facts$n_rows)
  names <- layout_of(file)$names
  row_names <- if (!is.null(host$index)) {
    description <- if (is.list(host$row_names)) host$row_names
    labels <- extra_values(file, number_of(check_map(host$index)$column), NULL, rows)
    decorate(labels, lapply_pairs(extras_of(file), description$attributes))
  } else {
    c(NA, if (identical(host$row_names, "numbers") && is_all(rows)) as.integer(n) else -as.integer(n))
  }
  is_all_columns <- identical(which, seq_len(length_of(names)))
  told <- list(names = if (is_all_columns || is.null(names)) names else unclass_all(names)[which], row.names = row_names)
  attrs <- if ("attributes" %in% names(host)) {
    lapply_pairs(extras_of(file), host$attributes)
  } else {
    list(names = NULL, class = "data.frame", row.names = NULL)
  }
  whole <- is_all(rows) && is_all_columns
  for (name in intersect(names(told), names(attrs))) {
    attrs[name] <- told[name]
  }
  if (!whole) attrs <- selected_attributes(attrs, names[which], rows)
  frame <- check_frame(decorate(columns, attrs), n)
  if (inherits(frame, "data.table") && requireNamespace("data.table", quietly = TRUE)) {
    frame <- data.table::setalloccol(frame)
  }
  frame
}

# Keys of a data.table for some of its columns and rows: those first ones that are there; indices are of all rows.
selected_attributes <- function(attrs, names, rows) {
  attrs$index <- NULL
  if (!is.null(attrs$sorted)) {
    lost <- which(!attrs$sorted %in% names)
    key <- if (length(lost) > 0L) attrs$sorted[seq_len(lost[1L] - 1L)] else attrs$sorted
    in_order <- rows[[1L]] < 2L || !is.unsorted(rows[[4L]])
    attrs$sorted <- if (length(key) > 0L && in_order) key
  }
  attrs
}

foreign_frame <- function(file, columns, which, rows) {
  n <- count_rows(rows, file$facts$n_rows)
  labels <- foreign_labels(file, rows)
  names <- c(names(labels$columns), layout_of(file)$names[which])
  row_names <- if (is.null(labels$row_names)) c(NA, -as.integer(n)) else labels$row_names
  decorate(c(unname(labels$columns), columns), list(names = names, class = "data.frame", row.names = row_names))
}
