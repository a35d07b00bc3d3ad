# Changes of a file: their arguments and the lock.

# Checks the arguments of a change. Without `compress`, the compression of the file's last write
# applies.
change_options <- function(durable, wait, compress = NULL, threads = NULL, edition = NULL, must_be_new = FALSE) {
  if (!is.null(compress)) compress <- check_compression(compress)
  if (!is.null(threads)) threads <- check_whole(threads, "threads", 1, MOST_THREADS)
  if (!is.null(durable)) check_flag(durable, "durable")
  write_options(compress, threads, durable, check_wait(wait), must_be_new, check_edition(edition))
}

# Takes the lock of the file at a path. `C_change_end` gives it back.
begin_change <- function(path, options) {
  if (!file.exists(path)) {
    abort("io", paste0("cannot change '", path, "': No such file or directory"), list(file = path))
  }
  core(.Call(C_change, path, options))
}
