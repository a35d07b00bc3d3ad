# Reads many columns in one call: collects requests, and reads the plain columns together.

new_reader <- function(file, rows, lazy, depth = 1L) {
  reader <- new.env(parent = emptyenv())
  reader$file <- file
  reader$rows <- rows
  reader$lazy <- lazy
  # The depth of nested columns.
  reader$depth <- depth
  reader$parts <- NULL
  reader$n <- 0L
  reader$n_vectors <- 0L
  # Columns of lists, which are read after plain columns: the number of the vector, the cells and
  # the lengths. Then nested columns with their facts.
  reader$lists <- list()
  reader$nested <- list()
  reader
}

# Requests columns, each in its own vector or all in one. Returns the numbers of the vectors.
reader_add <- function(reader, facts, which, kind, seconds = 1L, one = FALSE) {
  if (any(kind == LIST | kind == NESTED)) {
    return(reader_add_lists(reader, facts, which, kind, seconds, one))
  }
  k <- length(which)
  encodings <- integer(k)
  numbers <- facts$number[which]
  for (i in which(kind == CHARACTER & numbers %in% reader$file$string_encodings$of)) {
    how <- describe_columns(
      reader$file, reader$file$string_encodings$by[match(numbers[i], reader$file$string_encodings$of)]
    )
    if (how$physical != "u8" || how$n_values != facts$n_values[which[i]]) {
      nonsense("an invalid column of string encodings")
    }
    reader_add(reader, how, 1L, RAW)
    encodings[i] <- reader$n
  }
  vectors <- reader$n_vectors + if (one) rep_len(1L, k) else seq_len(k)
  reader$parts <- chain(reader$parts, list(
    column = numbers, kind = rep_len(kind, k), seconds = rep_len(seconds, k),
    quiet = as.integer(bitwAnd(facts$variant[which], VARIANT_QUIET) > 0L & reader$file$own),
    n = rep_len(count_rows(reader$rows, facts$n_values[which]), k), vector = vectors, encodings = encodings,
    lazy = rep_len(as.integer(reader$lazy), k)
  ))
  reader$n <- reader$n + k
  reader$n_vectors <- reader$n_vectors + if (one) 1L else k
  if (one) vectors[1L] else vectors
}

# Requests columns that include lists or nested columns.
reader_add_lists <- function(reader, facts, which, kind, seconds, one) {
  kind <- rep_len(kind, length(which))
  if (one) {
    reader$n_vectors <- reader$n_vectors + 1L
    if (kind[1L] == NESTED) {
      reader$nested[[length(reader$nested) + 1L]] <- list(reader$n_vectors, lapply(facts, `[`, which))
      return(reader$n_vectors)
    }
    reader$lists[[length(reader$lists) + 1L]] <- list(
      reader$n_vectors, facts$cell[which], facts$n_values[which], facts$name[which]
    )
    return(reader$n_vectors)
  }
  numbers <- integer(length(which))
  apart <- kind == LIST | kind == NESTED
  numbers[!apart] <- reader_add(reader, facts, which[!apart], kind[!apart], seconds)
  for (i in which(apart)) numbers[i] <- reader_add_lists(reader, facts, which[i], kind[i], 1L, TRUE)
  numbers
}

reader_run_columns <- function(reader) {
  fields <- c("column", "kind", "seconds", "quiet", "n", "vector", "encodings", "lazy")
  parts <- unchain(reader$parts)
  plan <- if (length(parts) == 1L) parts[[1L]] else
    sapply(fields, function(name) unlist(lapply(parts, `[[`, name), use.names = FALSE), simplify = FALSE)
  if (reader$n == 0L) {
    return(list())
  }
  plan$foreign <- !reader$file$own
  vectors <- core(.Call(C_read, handle_of(reader$file), plan, reader$rows))
  if (is.character(vectors)) damaged(reader$file, vectors)
  rounded <- attr(vectors, "rounded")
  is_rounded <- lengths(rounded) > 0L
  if (any(is_rounded)) warn_rounded(reader$file, plan$column[is_rounded], rounded[is_rounded])
  attr(vectors, "rounded") <- NULL
  vectors
}
