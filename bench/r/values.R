# Lists of values of many kinds, and long strings, from R: Entasis against the installed formats.
#
#   Rscript bench/r/values.R [scale = 1] [rounds = 3]
#
# Values are compared before anything is timed. Medians; files are in the page cache.

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1L]))
source(file.path(here, "formats.R"))
scale <- number_at(1L, 1)
rounds <- number_at(2L, 3)
about()

compare <- function(what, x, uses = list(read = NULL), formats = value_formats) measure(what, x, formats, rounds, uses)

set.seed(3)
n <- round(1e5 * scale)
compare("vectors of 5 doubles", lapply(seq_len(n), function(i) runif(5)))
compare("vectors of 3 integers", lapply(seq_len(n), function(i) sample.int(100L, 3L)))
compare("vectors of 2 strings", lapply(seq_len(n), function(i) c(paste("a", i), "b")))
compare("records", lapply(seq_len(n), function(i) list(id = i, name = "n", v = c(1, 2))))
compare("named vectors", lapply(seq_len(n), function(i) c(a = 1, b = 2)))
compare("dates", lapply(seq_len(n), function(i) as.Date("2020-01-01") + i))
compare("numbers by themselves", as.list(runif(10 * n)))
compare("small data frames", split(data.frame(a = seq_len(n / 10), b = runif(n / 10)), rep_len(seq_len(n / 100), n / 10)))
x <- runif(n)
compare("one large vector in ten places", rep(list(x), 10))
strings <- data.frame(s = paste0(strrep("x", 30), sample(1e9, 20 * n), sprintf("%020d", seq_len(20 * n))))
wanted <- sample(nrow(strings), 1000)
uses <- list(read = NULL, `and nchar` = function(x) sum(nchar(x$s)), `and 1,000` = function(x) x$s[wanted])
compare("strings of about 60 characters", strings, uses, frame_formats)
