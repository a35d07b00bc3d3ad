# Warns of long files whose bytes are mostly of earlier generations.

# Shorter files are not worth a look.
LONG_FILE <- 64 * 2^20

# The length of each file at the last look, by its path. The next one is at twice the length.
looked_at <- new.env(parent = emptyenv())

# Warns if compact_entasis() would free most of a long file, once per process and path.
warn_of_dead <- function(path) {
  key <- normalizePath(path)
  size <- file.size(path)
  if (size < max(LONG_FILE, 2 * c(looked_at[[key]], 0)[1L])) {
    return(invisible())
  }
  assign(key, size, envir = looked_at)
  file <- open_file(path)
  on.exit(close_file(file))
  if (!core(.Call(C_is_worth_compacting, file$handle))) {
    return(invisible())
  }
  assign(key, Inf, envir = looked_at)
  warning("\"", path, "\" is at least four times as long as its values: its earlier generations take the rest. ",
          "compact_entasis(path) removes them, and takes about as long as copying the file", call. = FALSE)
}
