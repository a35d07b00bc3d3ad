# A frame that is written in batches is the batches together; nothing is visible before the end.

batch <- function(k, n = 2000L) {
  i <- (k - 1L) * n + seq_len(n)
  data.frame(
    i, d = i / 7, s = paste0("text ", i %% 13L, recycle0 = TRUE),
    f = factor(letters[i %% 3L + 1L], letters[1:3]), day = as.Date("2020-01-01") + i,
    utc = as.POSIXct("2020-01-01", tz = "UTC") + i, span = as.difftime(i / 2, units = "hours"),
    labelled = structure(i, label = "a label")
  )
}

batches <- function(n) lapply(seq_len(n), batch)

# Writes batches, and returns the value of the file.
in_batches <- function(parts, ...) {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  w <- writer_entasis(path, durable = FALSE, ...)
  for (part in parts) {
    w$write(part)
    expect_false(file.exists(path))
  }
  expect_invisible(w$close())
  verify_entasis(path)
  expect_identical(generations_entasis(path)$operation, "write")
  read_entasis(path)
}

expect_batches <- function(parts, expected = do.call(rbind, parts)) {
  found <- in_batches(parts)
  expect_true(alike(found, expected), info = paste(all.equal(found, expected), collapse = "; "))
}

test_that("batches of data frames, tibbles and data.tables are joined", {
  expect_batches(batches(1L))
  expect_batches(batches(20L))
  expect_batches(list(batch(1L, 70000L), batch(2L, 70000L), batch(3L, 70000L)))
  expect_batches(list(batch(1L), batch(1L)[0, ], batch(2L)))
  x <- do.call(rbind, batches(3L))
  # `[` drops the label.
  expect_batches(lapply(0:5, function(k) x[k * 1000L + 1:1000, 1:7]), x[1:7])
  skip_if_not_installed("tibble")
  skip_if_not_installed("data.table")
  expect_batches(lapply(batches(3L), tibble::as_tibble), tibble::as_tibble(x))
  expect_batches(lapply(batches(3L), data.table::as.data.table), data.table::as.data.table(x))
})

test_that("the key of a data.table stays while the rows are in its order", {
  skip_if_not_installed("data.table")
  parts <- lapply(batches(3L), data.table::as.data.table, key = "i")
  x <- data.table::rbindlist(parts)
  expect_batches(parts, structure(data.table::copy(x), sorted = "i"))
  expect_batches(parts[c(1L, 3L, 2L)], data.table::rbindlist(parts[c(1L, 3L, 2L)]))
  data.table::setindexv(parts[[1L]], "d")
  expect_batches(parts, structure(data.table::copy(x), sorted = "i"))
})

test_that("factors get the levels of all batches, and columns are matched by name", {
  x <- data.frame(f = factor(c("b", "a")), n = 1:2)
  y <- data.frame(n = 3:4, f = factor(c("c", NA)))
  z <- data.frame(n = 5L, f = "a")
  found <- in_batches(list(x, y, z))
  expect_identical(found, data.frame(f = factor(c("b", "a", "c", NA, "a")), n = 1:5))
})

test_that("factors get any number of levels, and the file grows in place", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  parts <- lapply(
    1:50,
    function(k) data.frame(f = factor(paste0("level ", k * 700L + 1:1000)), g = factor("one"), n = seq_len(1000L) / 7)
  )
  w <- writer_entasis(path, compress = 0, durable = FALSE)
  for (part in parts) w$write(part)
  w$close()
  x <- do.call(rbind, parts)
  expect_gt(nlevels(x$f), 32768)
  expect_identical(read_entasis(path), x)
  more <- data.frame(f = "another level", g = factor("two"), n = 0)
  append_entasis(more, path, durable = FALSE)
  expect_identical(read_entasis(path), rbind(x, more))
  expect_identical(generations_entasis(path)$operation, c("write", "append"))
  verify_entasis(path)
})

test_that("a batch that does not fit is refused, and the writer goes on", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  w <- writer_entasis(path, durable = FALSE)
  x <- data.frame(n = 1:3, s = c("a", NA, "b"))
  w$write(x)
  expect_error(
    w$write(data.frame(n = 1.5, s = "c")), "column 'n' is integer in the file, which does not hold 1.5",
    class = "entasis_error_argument"
  )
  expect_error(w$write(data.frame(n = "x", s = "c")), "'n'", class = "entasis_error_argument")
  expect_error(w$write(data.frame(n = 1L)), "no column 's'", class = "entasis_error_argument")
  expect_error(w$write(1:3), "'x' must be a data frame", class = "entasis_error_argument")
  expect_error(
    w$write(structure(data.frame(n = 4L, s = "d"), row.names = "named")), "row names",
    class = "entasis_error_argument"
  )
  w$write(data.frame(n = 4L), fill = TRUE)
  expect_warning(w$close(), "5 batches were refused with an error, and are not in the file", fixed = TRUE)
  expect_identical(read_entasis(path), data.frame(n = 1:4, s = c("a", NA, "b", NA)))
  w <- writer_entasis(path, durable = FALSE)
  w$write(data.frame(n = 1L, s = NA))
  w$write(data.frame(n = 2, s = "a"))
  w$close()
  expect_identical(read_entasis(path), data.frame(n = 1:2, s = c(NA, "a")))
})

test_that("columns of lists need the whole frame", {
  path <- tempfile(fileext = ".entasis")
  w <- writer_entasis(path)
  x <- data.frame(a = 1:2)
  x$l <- list(1, "a")
  expect_error(w$write(x), "write the whole frame", class = "entasis_error_unsupported")
  x$l <- matrix(1:4, 2)
  w$write(x)
  expect_error(w$write(x), "column 'l' is a matrix", class = "entasis_error_unsupported")
  w$abort()
  expect_false(file.exists(path))
})

test_that("a file stays as it was until the writer is closed", {
  x <- batch(1L)
  path <- written(x)
  on.exit(unlink(path))
  before <- list.files(tempdir(), all.files = TRUE)
  w <- writer_entasis(path)
  w$write(batch(2L))
  expect_identical(read_entasis(path), x)
  expect_error(writer_entasis(path, wait = 0), class = "entasis_error_busy")
  expect_invisible(w$abort())
  expect_identical(read_entasis(path), x)
  expect_identical(list.files(tempdir(), all.files = TRUE), before)
  expect_error(w$write(x), "writer is closed", class = "entasis_error_argument")
  expect_error(w$close(), "writer is closed", class = "entasis_error_argument")
  expect_silent(w$abort())
  # Nothing was written.
  w <- writer_entasis(path, wait = 0)
  expect_error(w$close(), "nothing was written", class = "entasis_error_argument")
  expect_identical(read_entasis(path), x)
  w <- writer_entasis(path, wait = 0, durable = FALSE)
  w$write(batch(2L))
  w$close()
  expect_identical(read_entasis(path), batch(2L))
})

test_that("batches are added to a file, all at once", {
  for (n in c(100L, 60000L)) {
    x <- batch(1L, n)
    path <- written(x, compress = 0)
    w <- writer_entasis(path, append = TRUE, durable = FALSE)
    for (k in 2:4) w$write(batch(k, n))
    expect_identical(read_entasis(path), x)
    expect_error(append_entasis(x, path, wait = 0), class = "entasis_error_busy")
    w$close()
    expect_identical(read_entasis(path), do.call(rbind, lapply(1:4, batch, n)))
    if (n > 1000L) expect_identical(generations_entasis(path)$operation, c("write", "append"))
    verify_entasis(path)
    unlink(path)
  }
  expect_error(writer_entasis(tempfile(), append = TRUE), "No such file", class = "entasis_error_io")
  path <- written(list(a = 1))
  expect_error(writer_entasis(path, append = TRUE), "no data frame", class = "entasis_error_unsupported")
  expect_silent(write_entasis(x, path))
  unlink(path)
})

test_that("a writer that is forgotten gives up", {
  path <- written(data.frame(a = 1:3))
  on.exit(unlink(path))
  before <- list.files(tempdir(), all.files = TRUE)
  (function() {
    w <- writer_entasis(path)
    w$write(data.frame(a = 4L))
  })()
  gc()
  expect_identical(list.files(tempdir(), all.files = TRUE), before)
  expect_silent(write_entasis(data.frame(a = 5L), path))
})

test_that("the end of a session leaves no file", {
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  path <- file.path(folder, "x.entasis")
  code <- sprintf("w <- entasis::writer_entasis('%s'); w$write(data.frame(a = 1:3)); cat(length(dir('%s', all.files = TRUE, no.. = TRUE)))", path, folder)
  script <- tempfile(fileext = ".R")
  writeLines(code, script)
  suppressWarnings(
    system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = TRUE, env = libraries())
  )
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), character())
})

test_that("a writer of another session is closed", {
  path <- tempfile(fileext = ".entasis")
  w <- writer_entasis(path)
  again <- unserialize(serialize(w, NULL))
  expect_error(again$write(data.frame(a = 1)), "writer is closed", class = "entasis_error_argument")
  expect_output(print(w), "entasis writer")
  w$abort()
})

test_that("errors have the call that the user wrote", {
  w <- writer_entasis(tempfile())
  found <- tryCatch(w$write(1), error = identity)
  expect_identical(conditionCall(found), quote(w$write(1)))
  w$abort()
})

test_that("times of later batches may be finer", {
  t0 <- as.POSIXct("2024-01-01", tz = "UTC")
  expect_batches(
    list(
      data.frame(t = t0), data.frame(t = t0 + 0.5), data.frame(t = t0 + 0.123456),
      data.frame(t = .POSIXct(c(NA, 1.7e9 + 2^-22), "UTC"))
    )
  )
  expect_batches(
    list(
      data.frame(s = as.difftime(NA_real_, units = "mins")),
      data.frame(s = as.difftime(c(0.5, 1 / 4096), units = "mins"))
    )
  )
  expect_batches(list(data.frame(d = as.Date(NA)), data.frame(d = as.Date("2024-01-01"))))
  skip_if_not_installed("hms")
  parts <- list(data.frame(t = hms::hms(NA_real_)), data.frame(t = hms::hms(c(60, 0.25))))
  expect_batches(parts)
  # A batch of one row, with attributes of length one.
  labelled <- data.frame(n = 1)
  labelled$x <- structure(1, label = "a", class = "of a package")
  both <- data.frame(n = c(1, 1))
  both$x <- structure(c(1, 1), label = "a", class = "of a package")
  expect_batches(list(labelled, labelled), both)
  # Other hosts get times, and far times a coarser unit.
  path <- tempfile(fileext = ".entasis")
  w <- writer_entasis(path)
  w$write(data.frame(t = t0, far = as.POSIXct("9999-12-31", tz = "UTC")))
  w$close()
  expect_identical(metadata_entasis(path)$columns$class, c("POSIXct", "POSIXct"))
  expect_match(metadata_entasis(path)$columns$type, "timestamp", fixed = TRUE)
})

test_that("times of a new file are stored as asked", {
  t0 <- as.POSIXct("2024-01-01", tz = "UTC")
  parts <- list(data.frame(t = t0, d = as.Date("2024-01-01")), data.frame(t = t0 + 60, d = as.Date("2024-01-02")))
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  types <- list(
    finest = c("timestamp[ns, UTC]", "date"), first = c("timestamp[s, UTC]", "date"), double = c("f64", "f64")
  )
  for (times in names(types)) {
    w <- writer_entasis(path, times = times)
    for (part in parts) w$write(part)
    w$close()
    expect_identical(read_entasis(path), do.call(rbind, parts))
    expect_identical(sub("date.*", "date", metadata_entasis(path)$columns$type), types[[times]])
  }
  w <- writer_entasis(path, times = "double")
  w$write(parts[[1L]])
  odd <- data.frame(
    t = structure(1 / 3, class = c("POSIXct", "POSIXt"), tzone = "UTC"), d = structure(0.5, class = "Date")
  )
  w$write(odd)
  w$close()
  expect_identical(read_entasis(path), rbind(parts[[1L]], odd))
  expect_error(writer_entasis(path, times = "seconds"), class = "entasis_error_argument")
  expect_error(
    writer_entasis(path, append = TRUE, times = "first"), "'times' is for new files",
    class = "entasis_error_argument"
  )
})

test_that("the first batch may have no rows", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  rows <- list(data.frame(a = c(1, 2)))
  if (requireNamespace("tibble", quietly = TRUE)) rows <- c(rows, list(tibble::tibble(a = c(1, 2))))
  if (requireNamespace("data.table", quietly = TRUE)) rows <- c(rows, list(data.table::data.table(a = c(1, 2))))
  for (x in rows) {
    w <- writer_entasis(path)
    w$write(x[0, , drop = FALSE])
    w$write(x)
    w$close()
    expect_equal(read_entasis(path), x)
    expect_identical(.row_names_info(read_entasis(path)), -2L)
  }
  write_entasis(rows[[1L]][0, , drop = FALSE], path)
  expect_error(writer_entasis(path, append = TRUE), "because it has no rows", fixed = TRUE)
})

test_that("refusals of a batch name the column and one reason", {
  t0 <- as.POSIXct("2024-01-01", tz = "UTC")
  path <- written(data.frame(t = t0 + 1:3, d = as.Date("2024-01-01")))
  on.exit(unlink(path))
  refused <- function(x, message, first = NULL) {
    w <- if (is.null(first)) writer_entasis(path, append = TRUE, durable = FALSE) else writer_entasis(path, durable = FALSE)
    if (!is.null(first)) w$write(first)
    error <- tryCatch(w$write(x), error = identity)
    w$abort()
    expect_s3_class(error, "entasis_error")
    expect_match(conditionMessage(error), message, fixed = TRUE)
    expect_lt(nchar(conditionMessage(error)), 500)
  }
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  refused(
    data.frame(s = latin),
    "column 's' of the batch has strings that are not marked as UTF-8: convert it with enc2utf8()",
    data.frame(s = "a")
  )
  expect_error(
    writer_entasis(tempfile())$write(data.frame(n = 1, s = latin)),
    "because column 's' has strings that are not marked as UTF-8", fixed = TRUE
  )
  refused(data.frame(a = 1, row.names = "b"), "the row names of the batch do not go on with 2", data.frame(a = 1))
  refused(data.frame(a = 1), "because its row names are not 1, 2, 3 ...", data.frame(a = 1, row.names = "b"))
  named <- structure(list(a = c(x = 1, y = 2)), class = "data.frame", row.names = c(NA, -2L))
  refused(data.frame(a = 1), "because column 'a' has the attribute 'names'", named)
  frame <- data.frame(a = 1)
  frame$m <- matrix(1:2, 1)
  refused(frame, "because column 'm' is a matrix, a data frame", frame)
  frame$m <- list(1)
  expect_error(writer_entasis(tempfile())$write(frame), "because column 'm' is a list", fixed = TRUE)
  latin_column <- data.frame(a = 1, s = latin)
  expect_error({
    w <- writer_entasis(tempfile())
    w$write(data.frame(a = 1))
    w$write(latin_column, fill = TRUE)
  }, "column 's' of the batch has strings that are not marked", class = "entasis_error_argument")
})

test_that("the end of a writer reports batches that were refused", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  w <- writer_entasis(path)
  for (x in list(1:2, c("a", "b"), 3:4)) try(w$write(data.frame(n = x)), silent = TRUE)
  expect_warning(w$close(), "1 batch was refused with an error, and is not in the file", fixed = TRUE)
  expect_identical(read_entasis(path), data.frame(n = 1:4))
})

test_that("a writer belongs to the process that made it", {
  skip_on_os("windows")
  for (append in c(FALSE, TRUE)) {
    path <- tempfile()
    before <- if (append) 1:3 else integer()
    if (append) write_entasis(data.frame(a = before), path)
    w <- writer_entasis(path, append = append)
    w$write(data.frame(a = 4:6))
    # The child's copies end: they are collected, and its exit closes them.
    job <- parallel::mcparallel({
      calls <- list(function() w$write(data.frame(a = 0L)), w$close, w$abort, function() w$write(data.frame(a = 0L)))
      found <- vapply(calls, function(call) tryCatch(call(), entasis_error_io = conditionMessage), "")
      rm("w")
      gc()
      found
    })
    found <- parallel::mccollect(job)[[1L]]
    expect_match(found, paste0("fork of process ", Sys.getpid(), ", which is writing the file"))
    job <- parallel::mcparallel({
      rm("w")
      gc()
      if (append) tryCatch(append_entasis(data.frame(a = 0L), path, wait = 0), entasis_error_busy = function(e) "busy") else "busy"
    })
    expect_identical(parallel::mccollect(job)[[1L]], "busy")
    w$write(data.frame(a = 7:9))
    w$close()
    expect_identical(read_entasis(path)$a, c(before, 4:9))
    expect_length(list.files(dirname(path), paste0("^[.]", basename(path)), all.files = TRUE), 0L)
  }
})

test_that("a writer that cannot be made, and one that fails, let go of the file", {
  path <- tempfile()
  write_entasis(data.frame(a = I(list(1))), path)
  kept <- tryCatch(writer_entasis(path, append = TRUE), error = identity)
  expect_s3_class(kept, "entasis_error_unsupported")
  write_entasis(data.frame(a = 1L), path)
  kept <- list(
    tryCatch(append_entasis(data.frame(b = 1L), path), error = identity),
    tryCatch(add_columns_entasis(data.frame(a = 1L), path), error = identity)
  )
  for (error in kept) expect_s3_class(error, "entasis_error")
  append_entasis(data.frame(a = 2L), path, wait = 0)
  expect_identical(read_entasis(path)$a, 1:2)
})
