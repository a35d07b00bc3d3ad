# Trees of values and long strings from R: Entasis, saveRDS, and qs2 where it is.
#
#   Rscript bench/r/values.R [scale = 1] [rounds = 3]
#
# Values are compared before anything is timed. Medians; files are in the page cache.

library(entasis)
args <- as.numeric(commandArgs(TRUE))
scale <- if (length(args) >= 1L) args[1L] else 1
rounds <- if (length(args) >= 2L) args[2L] else 3

formats <- list(
  Entasis = list(function(x, p) write_entasis(x, p), function(p) read_entasis(p)),
  `saveRDS raw` = list(function(x, p) saveRDS(x, p, compress = FALSE), readRDS)
)
if (requireNamespace("qs2", quietly = TRUE)) {
  formats$qs2 <- list(function(x, p) qs2::qs_save(x, p, nthreads = threads_entasis()), function(p) qs2::qs_read(p, nthreads = threads_entasis()))
}

seconds <- function(expr) {
  invisible(gc())
  system.time(expr)[["elapsed"]]
}

# `use` is what is done with a value after it was read, and timed with the reading.
measure <- function(what, x, use = identity) {
  for (name in names(formats)) {
    path <- tempfile()
    format <- formats[[name]]
    format[[1L]](x, path)
    if (!identical(format[[2L]](path), x)) stop(name, " gives another value")
    times <- replicate(rounds, {
      unlink(path)
      c(seconds(format[[1L]](x, path)), seconds(use(format[[2L]](path))))
    })
    cat(sprintf("%-28s %-12s write %.3f s   read %.3f s   %.2f MB\n", what, name, median(times[1L, ]), median(times[2L, ]), file.size(path) / 1e6))
    unlink(path)
  }
}

set.seed(3)
n <- round(1e5 * scale)
measure("vectors of 5 doubles", lapply(seq_len(n), function(i) runif(5)))
measure("vectors of 3 integers", lapply(seq_len(n), function(i) sample.int(100L, 3L)))
measure("vectors of 2 strings", lapply(seq_len(n), function(i) c(paste("a", i), "b")))
measure("records", lapply(seq_len(n), function(i) list(id = i, name = "n", v = c(1, 2))))
measure("named vectors", lapply(seq_len(n), function(i) c(a = 1, b = 2)))
measure("dates", lapply(seq_len(n), function(i) as.Date("2020-01-01") + i))
measure("numbers by themselves", as.list(runif(10 * n)))
measure("small data frames", split(data.frame(a = seq_len(n / 10), b = runif(n / 10)), rep_len(seq_len(n / 100), n / 10)))
strings <- data.frame(s = paste0(strrep("x", 30), sample(1e9, 20 * n), sprintf("%020d", seq_len(20 * n))))
measure("strings of about 60", strings)
measure("the same, and nchar", strings, function(x) sum(nchar(x$s)))
measure("the same, 1,000 of them", strings, function(x) x$s[sample(nrow(x), 1000)])
