# Arguments of saveRDS(), readRDS(), fst and qs2 in calls of write_entasis() and read_entasis().

# Values of arguments that change nothing in Entasis.
HARMLESS <- list(
  ascii = list(FALSE), version = list(NULL, 2, 3, 2L, 3L), refhook = list(NULL), validate_checksum = list(TRUE),
  check_hash = list(TRUE),
  use_alt_rep = list(FALSE, TRUE), old_format = list(FALSE), uniform_encoding = list(TRUE, FALSE),
  warn_unsupported_types = list(TRUE, FALSE)
)

ADVICE <- c(
  nthreads = "threads_entasis(n) sets the number of threads",
  compress_level = "use 'compress', a number from 0 to 100",
  preset = "use 'compress', a number from 0 to 100",
  algorithm = "'compress', a number from 0 to 100, chooses the encodings",
  shuffle = "'compress', a number from 0 to 100, chooses the encodings",
  shuffle_control = "'compress', a number from 0 to 100, chooses the encodings",
  ascii = "files are binary",
  version = "the package writes one version of the format",
  refhook = "environments are stored with their contents, or by name if they are those of packages",
  validate_checksum = "checksums are always compared",
  check_hash = "checksums are always written and compared",
  old_format = "read such a file with fst::read_fst(), and write it with write_entasis()"
)

# The other arguments of a call. Arguments with a counterpart of the same name are returned. All
# others are errors, unless their value asks for nothing.
other_arguments <- function(counterparts, ...) {
  given <- list(...)
  names <- if (is.null(names(given))) rep_len("", length(given)) else names(given)
  for (k in which(!names %in% counterparts)) {
    if (any(vapply(HARMLESS[[names[k]]], identical, NA, given[[k]]))) next
    if (names[k] %in% names(ADVICE)) wrong("there is no argument '", names[k], "': ", ADVICE[[names[k]]])
    wrong("unused argument", if (names[k] != "") paste0(" '", names[k], "'"))
  }
  given[names %in% counterparts]
}
