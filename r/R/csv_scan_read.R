# Reads the rows of a scan.

# Begins to read columns of the text.
open_scan <- function(x, columns = lazy_content(x)$columns) {
  parts <- lazy_content(x)
  if (!.Call(C_is_open, parts$held$table)) hold_again(parts)
  csv_result(.Call(C_csv_open, parts$held$table, columns, parts$condition, if (is.null(parts$limit)) -1 else parts$limit))
}

# Opens the texts of a scan that comes from another session.
hold_again <- function(parts) {
  found <- csv_call(parts$sources, parts$form, CSV_SCAN)
  types <- c(if (!is.null(parts$form$id)) "categorical", found$spec_types)
  if (!identical(c(parts$form$id, found$all_names), parts$all) || !identical(types, parts$types)) {
    wrong("the text \"", source_of(parts), "\" has changed since the scan was made: call scan_csv_entasis() again")
  }
  parts$held$table <- found$table
}

# The name of the texts.
source_of <- function(parts) {
  names <- parts$sources$names
  paste0(names[1L], if (length(names) > 1L) paste(" and", length(names) - 1L, "more"))
}

# Reads on: the next rows as facts about a table, or NULL. Places that do not fit are an error.
read_on <- function(batches, n) {
  csv <- csv_result(.Call(C_csv_next, batches, n))
  if (!is.null(csv$refused)) refuse_text(csv)
  csv
}

# The frame of some rows.
frame_of_rows <- function(x, csv, columns = lazy_content(x)$columns) {
  parts <- lazy_content(x)
  if (csv$counts[1L] > .Machine$integer.max) {
    abort("unsupported", "not supported: a data frame has at most 2^31 - 1 rows; leave fewer rows with subset(), or read batches with batches_entasis()")
  }
  classes <- parts$classes
  # All batches have the same classes.
  is_wide <- csv$types == "int64"
  if (parts$integer64 == "integer64") classes[csv$names[is_wide]] <- "integer64"
  csv$fits[is_wide] <- pmin(pmax(csv$fits[is_wide], 1), if (parts$integer64 == "character") 2 else 3)
  vectors <- csv_vectors(csv, classes, parts$integer64, parts$form$nThread)
  decorate(vectors, list(names = parts$names[match(columns, parts$columns)], class = "data.frame", row.names = c(NA, -as.integer(csv$counts[1L]))))
}

# All rows of some columns.
read_scan <- function(x, columns = lazy_content(x)$columns) {
  batches <- open_scan(x, columns)
  on.exit(.Call(C_csv_close, batches))
  csv <- read_on(batches, 0)
  with_problems(frame_of_rows(x, csv, columns), csv)
}

# The number of rows, without making vectors.
count_scan <- function(x) {
  held <- lazy_content(x)$held
  if (is.null(held$n)) {
    batches <- open_scan(x, character())
    on.exit(.Call(C_csv_close, batches))
    csv <- read_on(batches, -1)
    warn_of_problems(csv)
    held$n <- csv$counts[1L]
  }
  held$n
}

# Warns of problems once the last rows were read.
warn_of_met <- function(batches) warn_of_problems(csv_result(.Call(C_csv_met, batches)))

# Calls a function for each batch, and returns its values.
each_batch <- function(x, f, n) {
  batches <- open_scan(x)
  on.exit(.Call(C_csv_close, batches))
  values <- list()
  while (!is.null(csv <- read_on(batches, n))) values[length(values) + 1L] <- list(f(frame_of_rows(x, csv)))
  warn_of_met(batches)
  values
}
