# Writes the rows of a scan in bounded memory.

# As an Entasis file, for write_entasis().
write_lazily.entasis_csv_scan <- function(x, path, options) {
  names <- lazy_content(x)$names
  if (!identical(names, lazy_content(x)$columns)) wrong("write_entasis() writes the columns of a text under their own names: rename them with rename_columns_entasis(path, ...) afterwards")
  batches <- open_scan(x)
  on.exit(.Call(C_csv_close, batches))
  csv <- csv_result(.Call(C_csv_store, batches, path, options))
  if (!is.null(csv$refused)) refuse_text(csv)
  warn_of_problems(csv)
}

# As text, for write_csv_entasis(). Returns the types of the columns.
write_scan <- function(x, path, form) {
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
