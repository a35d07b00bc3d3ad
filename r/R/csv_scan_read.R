# Reads the rows of a scan.

# Begins to read columns of the text. Where R evaluates a part of the condition, its columns are
# read too, and R counts the rows up to the limit.
open_scan <- function(x, columns = lazy_content(x)$columns) {
  parts <- lazy_content(x)
  if (!.Call(C_is_open, parts$held$table)) hold_again(parts)
  limit <- if (is.null(parts$limit) || length(parts$rest) > 0L) -1 else parts$limit
  csv_result(.Call(C_csv_open, parts$held$table, unique(c(columns, tested_by_r(parts))), parts$condition, limit))
}

# The columns of the parts of the condition that R evaluates.
tested_by_r <- function(parts) unlist(lapply(parts$rest, `[[`, "columns"))

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

# The frame of some columns in the rows of a batch that pass, at most `most` of them.
frame_of_rows <- function(x, csv, columns, most = Inf) {
  parts <- lazy_content(x)
  n <- csv$counts[1L]
  if (n > .Machine$integer.max) {
    abort("unsupported", "not supported: a data frame has at most 2^31 - 1 rows; leave fewer rows with subset(), or read batches with batches_entasis()")
  }
  classes <- parts$classes
  # All batches have the same classes.
  is_wide <- csv$types == "int64"
  if (parts$integer64 == "integer64") classes[csv$names[is_wide]] <- "integer64"
  csv$fits[is_wide] <- pmin(pmax(csv$fits[is_wide], 1), if (parts$integer64 == "character") 2 else 3)
  vectors <- csv_vectors(csv, classes, parts$integer64, parts$form$nThread)
  names(vectors) <- csv$names
  if (length(parts$rest) > 0L) {
    rows <- utils::head(which(passing_in_r(parts, vectors, n)), most)
    vectors <- lapply(vectors[columns], some_of_vector, rows)
    n <- length(rows)
  }
  decorate(
    unname(vectors),
    list(names = parts$names[match(columns, parts$columns)], class = "data.frame", row.names = c(NA, -as.integer(n)))
  )
}

# Which of `n` rows pass the parts of the condition that R evaluates.
passing_in_r <- function(parts, vectors, n) {
  passes <- rep_len(TRUE, n)
  for (part in parts$rest) {
    scope <- scope_of(part$names, function(k) vectors[[part$columns[k]]], baseenv())
    found <- truth_of(eval(part$condition, scope), n, part$is_single)
    if (is.null(found)) refuse_condition(part$condition)
    passes <- passes & found
  }
  passes
}

# All rows of some columns.
read_scan <- function(x, columns = lazy_content(x)$columns) {
  batches <- open_scan(x, columns)
  on.exit(.Call(C_csv_close, batches))
  if (length(lazy_content(x)$rest) > 0L) {
    frames <- read_batches(x, batches, columns, BATCH_ROWS, identity)
    csv <- csv_result(.Call(C_csv_met, batches))
    frame <- joined_frames(c(list(read_scan(changed_scan(x, rest = list(), limit = 0), columns)), frames))
    return(with_problems(frame, csv))
  }
  csv <- read_on(batches, 0)
  with_problems(frame_of_rows(x, csv, columns), csv)
}

# The rows that R tests at once.
BATCH_ROWS <- 65536

# Calls a function with the frame of each batch, and returns its values.
read_batches <- function(x, batches, columns, n, f) {
  parts <- lazy_content(x)
  left <- if (length(parts$rest) == 0L || is.null(parts$limit)) Inf else parts$limit
  values <- list()
  while (left > 0 && !is.null(csv <- read_on(batches, n))) {
    frame <- frame_of_rows(x, csv, columns, left)
    k <- .row_names_info(frame, 2L)
    left <- left - k
    if (k > 0L) values[length(values) + 1L] <- list(f(frame))
  }
  values
}

# Frames with the same columns as one.
joined_frames <- function(frames) {
  columns <- lapply(seq_along(frames[[1L]]), function(k) joined_vectors(lapply(frames, .subset2, k)))
  n <- sum(vapply(frames, .row_names_info, 1L, 2L))
  decorate(columns, list(names = names(frames[[1L]]), class = "data.frame", row.names = c(NA, -as.integer(n))))
}

joined_vectors <- function(vectors) {
  first <- vectors[[1L]]
  if (is.factor(first)) {
    # The levels of a batch are those of all batches so far.
    return(factor(unlist(lapply(vectors, as.character)), levels(vectors[[length(vectors)]])))
  }
  decorate(unlist(lapply(vectors, unclass_all)), attributes(first))
}

# The number of rows, without making vectors unless R tests them.
count_scan <- function(x) {
  held <- lazy_content(x)$held
  if (is.null(held$n)) {
    batches <- open_scan(x, character())
    on.exit(.Call(C_csv_close, batches))
    if (length(lazy_content(x)$rest) > 0L) {
      counts <- read_batches(x, batches, character(), BATCH_ROWS, function(frame) as.double(.row_names_info(frame, 2L)))
      warn_of_met(batches)
      held$n <- sum(0, unlist(counts))
    } else {
      csv <- read_on(batches, -1)
      warn_of_problems(csv)
      held$n <- csv$counts[1L]
    }
  }
  held$n
}

# Warns of problems once the last rows were read.
warn_of_met <- function(batches) warn_of_problems(csv_result(.Call(C_csv_met, batches)))

# Calls a function for each batch, and returns its values.
each_batch <- function(x, f, n) {
  batches <- open_scan(x)
  on.exit(.Call(C_csv_close, batches))
  values <- read_batches(x, batches, lazy_content(x)$columns, n, f)
  warn_of_met(batches)
  values
}
