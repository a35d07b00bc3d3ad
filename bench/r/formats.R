# Shared by the scripts here: the installed formats, measuring in turn, and targets.
#
# fst, qs, qs2, arrow, data.table and readr join where R finds them (R_LIBS).

library(entasis)

has <- function(package) requireNamespace(package, quietly = TRUE)
n_threads <- threads_entasis()
if (has("fst")) invisible(fst::threads_fst(n_threads))
if (has("arrow")) arrow::set_cpu_count(n_threads)

# A format: functions that write a value to a path and read it, and `like`, which compares values.
binary <- function(write, read) list(write = write, read = read, like = identical)
text <- function(write, read) {
  # Text keeps neither types nor the order of levels.
  plain <- function(x) lapply(x, function(column) if (is.factor(column)) as.character(column) else column)
  list(write = write, read = read, like = function(x, y) isTRUE(all.equal(plain(as.data.frame(x)), plain(y), check.attributes = FALSE)))
}

# The formats for any value, and below those for frames.
value_formats <- list(
  Entasis = binary(function(x, path) write_entasis(x, path), function(path) read_entasis(path)),
  `saveRDS raw` = binary(function(x, path) saveRDS(x, path, compress = FALSE), readRDS)
)
if (has("qs2")) {
  value_formats$qs2 <- binary(function(x, path) qs2::qs_save(x, path, nthreads = n_threads), function(path) qs2::qs_read(path, nthreads = n_threads))
  value_formats$`qs2 qdata` <- binary(function(x, path) qs2::qd_save(x, path, nthreads = n_threads), function(path) qs2::qd_read(path, nthreads = n_threads))
}
if (has("qs")) {
  value_formats$qs <- binary(function(x, path) qs::qsave(x, path, nthreads = n_threads), function(path) qs::qread(path, nthreads = n_threads))
}
frame_formats <- value_formats
if (has("fst")) frame_formats$fst <- binary(function(x, path) fst::write_fst(x, path, compress = 50), function(path) fst::read_fst(path))
if (has("arrow")) {
  frame_formats$`arrow feather` <- binary(function(x, path) arrow::write_feather(x, path), function(path) as.data.frame(arrow::read_feather(path)))
}
text_formats <- list()
if (has("data.table")) {
  text_formats$`data.table, text` <- text(
    function(x, path) data.table::fwrite(x, path, nThread = n_threads),
    function(path) data.table::fread(path, data.table = FALSE, stringsAsFactors = FALSE, na.strings = "", nThread = n_threads)
  )
}
if (has("readr")) {
  text_formats$`readr, text` <- text(
    function(x, path) readr::write_csv(x, path, na = "", progress = FALSE, num_threads = n_threads),
    function(path) readr::read_csv(path, na = "", lazy = FALSE, progress = FALSE, show_col_types = FALSE, num_threads = n_threads)
  )
}

# The arguments of a script by position: a number, or words between commas.
number_at <- function(place, default) if (length(commandArgs(TRUE)) >= place) as.numeric(commandArgs(TRUE)[place]) else default
words_at <- function(place, default) {
  if (length(commandArgs(TRUE)) >= place) strsplit(commandArgs(TRUE)[place], ",", fixed = TRUE)[[1L]] else default
}

# Entasis and those of these names, or all.
chosen <- function(formats, names = NULL) {
  if (is.null(names)) formats else formats[intersect(names(formats), c("Entasis", names))]
}

# Takes, fills and frees as much memory as the value needs, on huge pages. So each reader finds the
# same memory, regardless of earlier readers and of a virtual machine's host.
toucher <- function(size) {
  zeros <- compress_entasis(raw(size))
  function() {
    invisible(decompress_entasis(zeros))
    invisible(gc())
  }
}

# Seconds that a call takes, after a garbage collection, by a clock that is finer than the
# milliseconds of system.time().
seconds_of <- function(call) {
  invisible(gc(FALSE))
  begun <- Sys.time()
  call
  as.double(Sys.time()) - as.double(begun)
}

# Measures formats in turn: writing, and reading with each of `uses`. These functions get the value
# that was read, and are timed with the reading. Values are compared first. Returns medians, a row
# for each format, with the size of its file. `gone` deletes the file between reading and use.
measure <- function(what, x, formats, rounds, uses = list(read = NULL), gone = FALSE) {
  touch <- toucher(as.double(utils::object.size(x)))
  paths <- vapply(formats, function(format) tempfile(), "")
  spare <- tempfile()
  on.exit(unlink(c(paths, spare)))
  for (name in names(formats)) {
    formats[[name]]$write(x, paths[[name]])
    back <- formats[[name]]$read(paths[[name]])
    if (!formats[[name]]$like(back, x)) stop(name, " gives another value: ", what)
    rm(back)
  }
  sizes <- file.size(paths)
  calls <- c("write", names(uses))
  times <- array(NA, c(length(formats), length(calls), rounds), list(names(formats), calls, NULL))
  for (round in seq_len(rounds)) {
    for (name in names(formats)) {
      format <- formats[[name]]
      path <- paths[[name]]
      unlink(path)
      touch()
      times[name, "write", round] <- seconds_of(format$write(x, path))
      for (use in names(uses)) {
        # A second hard link keeps the file for the next round.
        if (gone) file.link(path, spare)
        touch()
        times[name, use, round] <- seconds_of({
          value <- format$read(path)
          if (gone) unlink(path)
          if (!is.null(uses[[use]])) uses[[use]](value)
        })
        rm(value)
        if (gone) file.rename(spare, path)
      }
    }
  }
  medians <- apply(times, 1:2, median)
  out <- data.frame(medians, MB = sizes / 1e6, check.names = FALSE)
  cat("\n", what, ": seconds, medians of ", rounds, " rounds in turn\n", sep = "")
  print(round(out, 5))
  invisible(out)
}

# Medians of the first read of a process, which has no memory yet. Each format in turn gets its own
# process.
measure_first <- function(what, x, formats, rounds) {
  paths <- vapply(formats, function(format) tempfile(), "")
  on.exit(unlink(paths))
  for (name in names(formats)) formats[[name]]$write(x, paths[[name]])
  code <- "source(%s); formats <- c(frame_formats, text_formats); read <- formats[[%s]]$read; cat(system.time(read(%s))[['elapsed']])"
  first <- function(name) {
    script <- do.call(sprintf, c(code, lapply(c(file.path(here, "formats.R"), name, paths[[name]]), encodeString, quote = "'")))
    as.double(utils::tail(system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(script)), stdout = TRUE), 1L))
  }
  times <- vapply(seq_len(rounds), function(round) vapply(names(formats), first, 0), numeric(length(formats)))
  out <- data.frame(`first read` = apply(times, 1L, median), check.names = FALSE)
  cat("\n", what, ", the first reading of a process: seconds, medians of ", rounds, " rounds in turn\n", sep = "")
  print(round(out, 4))
  invisible(out)
}

# Prints whether Entasis takes at most `limit` times what another format does.
target <- function(found, call, than, limit, shown = call) {
  if (!than %in% rownames(found)) {
    cat(sprintf("target: %s <= %.2f x %s: not measured, as it is not installed\n", shown, limit, than))
    return(invisible(NA))
  }
  ratio <- found["Entasis", call] / found[than, call]
  cat(sprintf("target: %s <= %.2f x %s: %.2f, %s\n", shown, limit, than, ratio, if (ratio <= limit) "met" else "missed"))
  invisible(ratio <= limit)
}

about <- function() {
  there <- Filter(has, c("fst", "qs", "qs2", "arrow", "data.table", "readr"))
  versions <- vapply(there, function(package) paste(package, utils::packageVersion(package)), "")
  cat("R ", as.character(getRversion()), ", entasis ", as.character(utils::packageVersion("entasis")), ", ",
      if (length(versions) > 0L) paste0(paste(versions, collapse = ", "), ", "), n_threads, " threads\n", sep = "")
}
