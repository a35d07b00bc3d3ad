# Writes the rows of a scan in bounded memory.

# As an Entasis file, for write_entasis().
write_lazily.entasis_csv_scan <- function(x, path, options) {
  names <- lazy_content(x)$names
  if (!identical(names, lazy_content(x)$columns)) {
    wrong("write_entasis() writes the columns of a text under their own names: rename them with rename_columns_entasis(path, ...) afterwards")
  }
  refuse_rest(x, "write_entasis")
  batches <- open_scan(x)
  on.exit(.Call(C_csv_close, batches))
  csv <- csv_result(.Call(C_csv_store, batches, path, options))
  if (!is.null(csv$refused)) refuse_text(csv)
  warn_of_problems(csv)
}

# As text, for write_csv_entasis(). Returns the types of the columns.
write_scan <- function(x, path, form) {
  refuse_rest(x, "write_csv_entasis")
  parts <- lazy_content(x)
  batches <- open_scan(x)
  on.exit(.Call(C_csv_close, batches))
  csv <- csv_result(.Call(C_csv_write_batches, batches, path, lapply(c(form, list(names = parts$names)), as.character)))
  if (!is.null(csv$refused)) refuse_text(csv)
  warn_of_problems(csv)
  types <- parts$types[match(parts$columns, parts$all)]
  # Times without an offset are in UTC.
  is_local <- grepl("^datetime.*[^C]\\]$", types)
  types[is_local] <- sub("]", ", UTC]", types[is_local], fixed = TRUE)
  types
}

# R tests some conditions in data frames, which are written by other means.
refuse_rest <- function(x, own) {
  rest <- lazy_content(x)$rest
  if (length(rest) == 0L) return(invisible())
  shown <- cut_text(paste(trimws(deparse(rest[[1L]]$condition, width.cutoff = 500L)), collapse = " "), 200L)
  how <- if (own == "write_entasis") "write batches with batches_entasis() and writer_entasis()" else "write batches with batches_entasis(), and write_csv_entasis(batch, file, append = TRUE)"
  abort(
    "unsupported",
    paste0("not supported: ", own, "() of a text with the condition ", shown, ", which R evaluates; ", how, ", or x[]")
  )
}
