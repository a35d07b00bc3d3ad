# Reads the requested columns and completes their vectors. Levels are columns too, and so are the
# children of nested columns.

# Reads all requested columns, as a list of vectors.
reader_run <- function(reader) {
  vectors <- reader_run_columns(reader)
  if (length(vectors) < reader$n_vectors) length(vectors) <- reader$n_vectors
  for (entry in reader$lists) {
    parts <- lapply(seq_along(entry[[2L]]), function(k) read_list(reader, lapply(entry[-1L], `[`, k)))
    vectors[[entry[[1L]]]] <- if (length(parts) == 1L) parts[[1L]] else do.call(c, parts)
  }
  for (entry in reader$nested) {
    vectors[[entry[[1L]]]] <- read_nested(reader$file, entry[[2L]], reader$rows, reader$depth)
  }
  vectors
}

# Completes the vector or list of a request.
reader_finish <- function(reader, vectors, want) {
  rows <- reader$rows
  if (!is.null(want$parts)) {
    value <- lapply(want$parts, function(part) reader_finish(reader, vectors, part))
    value <- decorate(value, part_attributes(want$attributes, rows))
    return(check_frame(value, count_rows(rows, reader$file$facts$n_rows)))
  }
  x <- if (!is.null(want$record)) {
    found <- look_at_cell(reader$file, want$record)
    if (!is_all(rows) || found$kind != CELL_LIST) nonsense("a record without its fields")
    read_reference(cells_ref(found$first, found$first + found$count), reader$file)
  } else if (is.null(want$empty)) {
    vectors[[want$vector]]
  } else {
    want$empty
  }
  if (!reader$file$own) {
    levels <- if (identical(want$kind, CODES)) levels_of(reader, want$facts$dictionary)
    return(foreign_vector(reader$file, x, want, levels))
  }
  attrs <- want$attributes
  if (!want$has_attributes && !is.null(want$kind)) {
    attrs <- if (want$kind == INTEGER64 && want$facts$logical == "timestamp") NULL else
      implied(want$kind, want$facts$ordered > 0L, want$facts$zone)
  }
  if ("levels" %in% names(attrs) && is.null(attrs$levels)) {
    attrs[["levels"]] <- levels_of(reader, want$facts$dictionary)
  }
  x <- decorate(x, row_attributes(attrs, rows), want$s4)
  if (is.list(x) || !inherits(x, c("data.frame", "POSIXlt"))) x else nonsense("a vector whose class requires a list")
}

# Reads the levels of all requested factors together, and the levels in the dictionary columns
# `more`.
reader_levels <- function(reader, wants, more = NULL) {
  numbers <- unique(c(more, dictionaries_of(wants)))
  if (length(numbers) > 1L || length(more) > 0L) {
    facts <- describe_columns(reader$file, numbers)
    levels_reader <- new_reader(reader$file, ALL_ROWS, FALSE)
    positions <- seq_along(numbers)
    if (reader$file$own && all(facts$physical == "utf8" & facts$logical == "plain")) {
      vectors <- reader_add(levels_reader, facts, positions, CHARACTER)
      reader$levels <- reader_run(levels_reader)[vectors]
    } else {
      found <- with_fitting(reader$file, lapply(positions, function(i) reader_want(levels_reader, facts, i, NULL)))
      vectors <- reader_run(levels_reader)
      reader$levels <- lapply(found, function(want) reader_finish(levels_reader, vectors, want))
    }
    reader$dictionaries <- numbers
  }
}

levels_of <- function(reader, number) {
  at <- match(number, reader$dictionaries)
  if (is.na(at)) with_fitting(reader$file, extra_values(reader$file, number)) else reader$levels[[at]]
}

# The values of an extra column: levels, attributes or labels.
extra_values <- function(file, number, description = NULL, rows = ALL_ROWS) {
  facts <- describe_columns(file, number)
  reader <- new_reader(file, rows, FALSE)
  want <- reader_want(reader, facts, 1L, description)
  reader_finish(reader, reader_run(reader), want)
}

read_reference.entasis_column <- function(node, file, description) extra_values(file, as.double(node), description)

# Reads a nested column, by its facts, in some rows.
read_nested <- function(file, of, rows, depth) {
  if (depth >= DEEPEST_COLUMN || of$n_children > 0 && of$first_child <= of$number) {
    nonsense("a nested column that contains itself")
  }
  children <- describe_columns(file, of$first_child + seq_len(of$n_children) - 1)
  check_children(of, children)
  request <- child_request(of, children, rows, read_words(file, of, structure_rows(of, rows)))
  values <- Map(function(i, rows) read_child(file, children, i, rows, depth), request$children, request$rows)
  join_children(of, children, rows, request, values)
}

# A column's structure: lengths, type ids, run starts, or 1; NA for missing values.
read_words <- function(file, of, rows) {
  reader <- new_reader(file, rows, FALSE)
  reader_add(reader, of, 1L, WORDS)
  reader_run(reader)[[1L]]
}

# The values of a child in some of its rows.
read_child <- function(file, children, i, rows, depth) {
  if (rows[[1L]] == 1L && rows[[3L]] > children$n_values[i]) {
    nonsense("a nested column needs more values than its child has")
  }
  reader <- new_reader(file, rows, TRUE, depth + 1L)
  want <- reader_want(reader, children, i, NULL)
  reader_finish(reader, reader_run(reader), want)
}
