# Files with random damage and checksums that hold. test-damage.R runs this in a separate process,
# with a seed, the number of changes of each file, the folder of the tests, and the files. With no
# changes the files are read as they are.

library(entasis)
args <- commandArgs(TRUE)
set.seed(as.integer(args[1L]))
source(file.path(args[3L], "checksums.R"))
changed <- tempfile(fileext = ".entasis")
edges <- c(0:19, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2^31 - 1, 2^31, 2^32 - 1, 2^32, 2^53, 2^62, 2^63)

bytes_of <- function(number, width) as.raw(floor(number / 256^(seq_len(width) - 1)) %% 256)

change <- function(bytes, sums) {
  sums <- sums[sums$len > 0, ]
  # Pages outnumber the other ranges, and each kind of range has its own rules.
  range <- sums[sums$what == sample(unique(sums$what), 1L), ]
  range <- range[sample(nrow(range), 1L), ]
  width <- min(sample(c(1, 1, 2, 4, 4, 8, 8), 1L), range$len)
  at <- range$at + width * (sample(range$len %/% width, 1L) - 1)
  here <- at + seq_len(width)
  how <- sample(5L, 1L)
  if (how == 1L) {
    at <- range$at + sample(range$len, 1L)
    bytes[at] <- xor(bytes[at], as.raw(2^sample(0:7, 1L)))
  } else if (how == 2L) {
    bytes[here] <- bytes_of(word_at(bytes, at, width) + sample(c(-1, 1), 1L), width)
  } else if (how == 3L) {
    from <- range$at + width * (sample(range$len %/% width, 1L) - 1)
    bytes[here] <- bytes[from + seq_len(width)]
  } else {
    bytes[here] <- bytes_of(sample(edges, 1L), width)
  }
  bytes
}

# Reads a file in all ways.
uses <- list(
  function() read_entasis(changed),
  function() read_entasis(changed, from = 2, to = 3),
  function() read_entasis(changed, functions = TRUE),
  function() metadata_entasis(changed),
  function() {
    x <- entasis(changed)
    if (inherits(x, "entasis_table")) {
      list(x[c(2, 1), ], x[1L], x[[length(x)]], names(x), row.names(x), head(x, 2))
    } else if (inherits(x, "entasis_tree")) {
      list(x[1L], lapply(seq_along(x), function(i) x[[i]]), names(x), as.list(x))
    }
  },
  function() utils::capture.output(print(entasis(changed))),
  function() verify_entasis(changed)
)

n_refused <- n_read <- 0
use_all <- function(name, k) {
  for (i in seq_along(uses)) {
    tryCatch({
      value <- suppressWarnings(uses[[i]]())
      n_read <<- n_read + 1
      # Any value that was read can be printed and saved, or R raises an error.
      if (k %% 8 == 0) try(utils::capture.output(utils::str(value)), silent = TRUE)
      if (k %% 8 == 1) try(serialize(value, NULL), silent = TRUE)
    }, error = function(e) {
      if (!inherits(e, "entasis_error") || inherits(e, "entasis_error_defect")) {
        kept <- Sys.getenv("ENTASIS_KEEP_DAMAGE")
        if (kept != "") file.copy(changed, kept, TRUE)
        stop("change ", k, " of ", name, ", use ", i, ": ", paste(class(e), collapse = "/"), ": ", conditionMessage(e))
      }
      n_refused <<- n_refused + 1
    })
  }
}

n_changes <- as.integer(args[2L])
for (path in args[-(1:3)]) {
  bytes <- readBin(path, "raw", file.size(path))
  if (n_changes == 0L) {
    writeBin(bytes, changed)
    use_all(basename(path), 0L)
    next
  }
  sums <- find_checksums(bytes)
  stopifnot(identical(repair_checksums(bytes, sums), bytes))
  for (k in seq_len(n_changes)) {
    bad <- bytes
    for (times in seq_len(sample(3L, 1L))) bad <- change(bad, sums)
    writeBin(repair_checksums(bad, sums), changed)
    use_all(basename(path), k)
  }
}
cat("read", n_read, "refused", n_refused, "\n")
