# The frame of the fst articles from R: Entasis, saveRDS, data.table's fwrite and fread, and fst and qs where they are.
#
#   Rscript bench/r/headline.R [rows = 1e7] [rounds = 3]
#
# Formats are interleaved, equality is checked before anything is timed; medians and the quickest are told. Files are in the page
# cache.

library(entasis)
args <- as.numeric(commandArgs(TRUE))
rows <- if (length(args) >= 1L) args[1L] else 1e7
rounds <- if (length(args) >= 2L) args[2L] else 3

set.seed(5)
frame <- data.frame(
  Logical = sample(c(TRUE, FALSE, NA), rows, TRUE, c(0.85, 0.1, 0.05)),
  Integer = sample.int(100L, rows, TRUE),
  Real = sample(sample(1:10000, 20) / 100, rows, TRUE),
  Factor = factor(sample(labels(UScitiesD), rows, TRUE))
)

has <- function(package) requireNamespace(package, quietly = TRUE)
formats <- list(
  `Entasis` = list(function(x, p) write_entasis(x, p), function(p) read_entasis(p)),
  `saveRDS raw` = list(function(x, p) saveRDS(x, p, compress = FALSE), readRDS)
)
if (has("fst")) formats$`fst 50` <- list(function(x, p) fst::write_fst(x, p), function(p) fst::read_fst(p))
if (has("qs")) formats$`qs` <- list(function(x, p) qs::qsave(x, p, nthreads = threads_entasis()), function(p) qs::qread(p, nthreads = threads_entasis()))
if (has("qs2")) formats$`qs2` <- list(function(x, p) qs2::qd_save(x, p, nthreads = threads_entasis()), function(p) qs2::qd_read(p, nthreads = threads_entasis()))
if (has("data.table")) {
  formats$`fwrite, fread (text)` <- list(
    function(x, p) data.table::fwrite(x, p),
    function(p) data.table::fread(p, data.table = FALSE, stringsAsFactors = TRUE)
  )
}

# Memory as large as the frame is taken, filled and given back: no reader profits, or suffers, from what others left.
touch <- function(frame) {
  invisible(raw(object.size(frame)))
  invisible(gc())
}

measure <- function(frame) {
  paths <- vapply(formats, function(format) tempfile(), "")
  for (name in names(formats)) {
    formats[[name]][[1L]](frame, paths[[name]])
    back <- formats[[name]][[2L]](paths[[name]])
    # Text has no order of levels.
    same <- if (grepl("text", name)) isTRUE(all.equal(lapply(back, as.character), lapply(frame, as.character))) else identical(back, frame)
    if (!same) stop(name, " gives another frame")
    rm(back)
  }
  times <- array(NA, c(length(formats), 2L, rounds), list(names(formats), c("write", "read"), NULL))
  for (round in seq_len(rounds)) {
    for (name in names(formats)) {
      unlink(paths[[name]])
      touch(frame)
      times[name, "write", round] <- system.time(formats[[name]][[1L]](frame, paths[[name]]))[["elapsed"]]
      touch(frame)
      times[name, "read", round] <- system.time(formats[[name]][[2L]](paths[[name]]))[["elapsed"]]
    }
  }
  medians <- apply(times, 1:2, median)
  best <- apply(times, 1:2, min)
  out <- data.frame(
    `write s` = medians[, "write"], quickest = best[, "write"], `read s` = medians[, "read"], quickest = best[, "read"],
    MB = file.size(paths) / 1e6, check.names = FALSE
  )
  print(round(out, 3))
  unlink(paths)
}

cat(format(rows, big.mark = ",", scientific = FALSE), " rows, ", format(object.size(frame), units = "MB"), " in memory, ",
    threads_entasis(), " threads, R ", as.character(getRversion()), "\n\nHeadline frame\n", sep = "")
measure(frame)

n <- rows / 10
cat("\nStrings: ", format(n, big.mark = ",", scientific = FALSE), " rows, one column of 10 cities, one of different ones\n", sep = "")
strings <- data.frame(city = as.character(frame$Factor[seq_len(n)]), id = sprintf("id-%09d", seq_len(n)))
measure(strings)
