# Options of the core for writing, and the operations that generations record.

# Codes of operations (docs/format/container.md).
OPERATION <- list(append = 2L, add = 3L, replace = 4L, drop = 5L, rename = 6L, metadata = 7L, update = 8L)

# The options of the core: compression (-1 to keep that of the file's last write), threads (0 for
# one per processor), whether to wait for the disk (-1 only if the file replaces one), seconds to
# wait for another writer, whether a file at the path is an error, and the edition (-1 for the
# newest).
write_options <- function(compress, threads = NULL, durable = NULL, wait = 10, must_be_new = FALSE, edition = NULL) {
  c(if (is.null(compress)) -1 else compress, if (is.null(threads)) 0 else threads, if (is.null(durable)) -1 else durable, wait, must_be_new,
    if (is.null(edition)) -1 else edition)
}
