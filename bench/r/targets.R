# The frame of the fst articles, long strings, lists of small vectors, and frames of very many
# columns: Entasis against the formats that are installed, with its targets.
#
#   Rscript bench/r/targets.R [rows = 5e7] [rounds = 5] [parts = headline,...] [formats = all]
#
# Parts are headline, strings, vectors and wide. Formats have the names of the tables, as in
# "Entasis,fst". 50 million rows need about 6 GB. Text formats take part up to 10 million rows.
# Files are in the page cache.

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1L]))
source(file.path(here, "formats.R"))
rows <- number_at(1L, 5e7)
rounds <- number_at(2L, 5)
parts <- words_at(3L, c("headline", "strings", "vectors", "wide"))
only <- words_at(4L, NULL)
about()
set.seed(5)

if ("headline" %in% parts) {
  frame <- data.frame(
    Logical = sample(c(TRUE, FALSE, NA), rows, TRUE, c(0.85, 0.1, 0.05)),
    Integer = sample.int(100L, rows, TRUE),
    Real = sample(sample(1:10000, 20) / 100, rows, TRUE),
    Factor = factor(sample(labels(UScitiesD), rows, TRUE))
  )
  formats <- chosen(c(frame_formats, if (rows <= 1e7) text_formats), only)
  found <- measure(sprintf("headline frame, %s rows, %s", format(rows, big.mark = ",", scientific = FALSE), format(utils::object.size(frame), units = "MB")),
                   frame, formats, rounds)
  measure_first("headline frame", frame, formats, rounds)
  rm(frame)
  target(found, "write", "fst", 0.5)
  target(found, "read", "fst", 0.2)
  target(found, "MB", "fst", 0.5, "file")
}

if ("strings" %in% parts) {
  n <- 2e6
  alphabet <- as.integer(charToRaw("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"))
  lines <- rbind(matrix(sample(alphabet, 50 * n, TRUE), 50), utf8ToInt("\n"))
  # Goes through a file, because strsplit() scans the rest of a long text for each piece.
  text <- tempfile()
  writeBin(as.raw(lines), text)
  strings <- data.frame(s = readLines(text))
  unlink(text)
  rm(lines)
  stopifnot(nrow(strings) == n, all(nchar(strings$s) == 50L))
  rows_wanted <- sample.int(n, 1000)
  uses <- list(
    read = NULL,
    `and nchar` = function(x) stopifnot(sum(nchar(x$s)) == 50 * n),
    `and 1,000` = function(x) stopifnot(identical(x$s[rows_wanted], strings$s[rows_wanted]))
  )
  for (gone in c(FALSE, TRUE)) {
    what <- paste0("2 million strings of 50 characters", if (gone) ", the file deleted in between")
    found <- measure(what, strings, chosen(c(frame_formats, if (!gone) text_formats), only), rounds, uses, gone)
    target(found, "read", "fst", 0.2, "read strings")
    target(found, "and nchar", "fst", 1.05, "read and sum(nchar(x))")
    target(found, "and 1,000", "fst", 0.2, "read and 1,000 of them")
  }
  rm(strings)
}

if ("vectors" %in% parts) {
  n <- 1e5
  lists <- list(
    `5 doubles` = lapply(seq_len(n), function(i) runif(5)),
    `3 integers` = lapply(seq_len(n), function(i) sample.int(100L, 3L)),
    `2 strings` = lapply(seq_len(n), function(i) c(paste("a", i), "b"))
  )
  for (name in names(lists)) {
    what <- paste("100,000 vectors of", name)
    found <- measure(what, lists[[name]], chosen(value_formats, only), 3 * rounds)
    target(found, "write", "qs2", 1, paste("write", what))
    target(found, "read", "qs2", 1, paste("read", what))
  }
}

if ("wide" %in% parts) {
  # Frames of 2 rows: what each column costs. Targets are processor time, in seconds.
  k <- 100000L
  makers <- list(
    double = function(i) c(i, -1.5 * i), integer = function(i) c(i, -i), logical = function(i) c(TRUE, i %% 2 == 0),
    text = function(i) c(paste0("a", i), "some longer text here"), factor = function(i) factor(c("a", "b")),
    Date = function(i) structure(c(i, 20000), class = "Date"),
    POSIXct = function(i) structure(c(i, 1.7e9), class = c("POSIXct", "POSIXt"), tzone = "UTC"),
    `POSIXct without a zone` = function(i) structure(c(i, 1.7e9), class = c("POSIXct", "POSIXt"))
  )
  path <- tempfile()
  for (name in names(makers)) {
    frame <- lapply(seq_len(k), makers[[name]])
    names(frame) <- paste0("V", seq_len(k))
    frame <- structure(frame, row.names = c(NA, -2L), class = "data.frame")
    all <- list(write = NULL, read = NULL)
    for (round in seq_len(rounds)) {
      invisible(gc())
      all$write[round] <- sum(system.time(entasis::write_entasis(frame, path))[1:2])
      invisible(gc())
      all$read[round] <- sum(system.time(back <- entasis::read_entasis(path))[1:2])
    }
    stopifnot(identical(back, frame))
    took <- vapply(all, stats::median, 0)
    for (what in names(took)) {
      cat(sprintf("%s 100,000 columns of %s: %.2f s (%s at most 2 s)\n", what, name, took[[what]], if (took[[what]] <= 2) "met," else "missed,"))
    }
  }
  unlink(path)
}
