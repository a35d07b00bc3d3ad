# overwrite = FALSE never replaces a file.

frame <- data.frame(a = 1:1000, b = rep(c("x", "y"), 500))

# A file at `path` stays byte for byte, and nothing is left; a new file is written.
check_overwrite_of <- function(write, path) {
  folder <- dirname(path)
  others <- setdiff(list.files(folder, all.files = TRUE, no.. = TRUE), basename(path))
  names <- function() setdiff(list.files(folder, all.files = TRUE, no.. = TRUE), others)
  writeLines("an old file", path)
  old <- readBin(path, "raw", 1e5)
  e <- expect_error(write(path, overwrite = FALSE), "the file exists", class = "entasis_error_exists")
  expect_s3_class(e, "entasis_error_io")
  expect_identical(readBin(path, "raw", 1e5), old)
  expect_identical(names(), basename(path))
  unlink(path)
  write(path, overwrite = FALSE)
  written <- readBin(path, "raw", 1e6)
  expect_gt(length(written), 0L)
  expect_error(write(path, overwrite = FALSE), class = "entasis_error_exists")
  expect_identical(readBin(path, "raw", 1e6), written)
  write(path, overwrite = TRUE)
  write(path)
  expect_identical(names(), basename(path))
}

new_folder <- function() {
  folder <- tempfile("overwrite")
  dir.create(folder)
  folder
}

test_that("a file that exists stays", {
  folder <- new_folder()
  csv <- tempfile(fileext = ".csv")
  write_csv_entasis(frame, csv)
  rds <- tempfile(fileext = ".rds")
  saveRDS(frame, rds)
  entasis <- tempfile(fileext = ".entasis")
  write_entasis(frame, entasis)
  calls <- list(
    frame.entasis = function(path, ...) write_entasis(frame, path, ...),
    tree.entasis = function(path, ...) write_entasis(list(1, "x", frame, list(NULL, y = 1:3)), path, ...),
    text.entasis = function(path, ...) write_entasis(scan_csv_entasis(csv), path, ...),
    frame.csv = function(path, ...) write_csv_entasis(frame, path, ...),
    file.csv.gz = function(path, ...) write_csv_entasis(entasis(entasis), path, ...),
    scan.csv = function(path, ...) write_csv_entasis(scan_csv_entasis(csv), path, ...),
    rds.entasis = function(path, ...) convert_entasis(rds, path, ...),
    csv.entasis = function(path, ...) convert_entasis(csv, path, ...),
    entasis.csv = function(path, ...) convert_entasis(entasis, path, ...),
    entasis.rds = function(path, ...) convert_entasis(entasis, path, ...),
    writer.entasis = function(path, ...) {
      w <- writer_entasis(path, ...)
      w$write(frame)
      w$close()
    }
  )
  for (name in names(calls)) check_overwrite_of(calls[[name]], file.path(folder, name))
})

test_that("a file that appears meanwhile stays", {
  path <- file.path(new_folder(), "file.entasis")
  w <- writer_entasis(path, overwrite = FALSE)
  w$write(frame)
  writeLines("of another process", path)
  expect_error(w$close(), class = "entasis_error_exists")
  expect_identical(readLines(path), "of another process")
  expect_identical(list.files(dirname(path), all.files = TRUE, no.. = TRUE), "file.entasis")
})

test_that("a link counts as the file that it leads to", {
  skip_on_os("windows")
  folder <- new_folder()
  link <- file.path(folder, "link.entasis")
  file.symlink("file", link)
  write_entasis(frame, link, overwrite = FALSE)
  expect_identical(read_entasis(file.path(folder, "file")), frame)
  expect_error(write_entasis(1, link, overwrite = FALSE), class = "entasis_error_exists")
  expect_identical(read_entasis(link), frame)
})

test_that("of two processes one writes", {
  skip_on_os("windows")
  folder <- new_folder()
  for (i in 1:20) {
    path <- file.path(folder, paste0(i, ".entasis"))
    write <- function(number) {
      tryCatch({
        write_entasis(rep(number, 1000), path, overwrite = FALSE)
        number
      }, entasis_error_exists = function(e) NULL)
    }
    jobs <- lapply(1:2, function(number) parallel::mcparallel(write(number)))
    found <- unlist(parallel::mccollect(jobs))
    expect_length(found, 1L)
    expect_identical(read_entasis(path), rep(unname(found), 1000))
  }
  expect_length(list.files(folder, all.files = TRUE, no.. = TRUE), 20L)
})

test_that("overwrite is for new files", {
  path <- tempfile(fileext = ".entasis")
  write_entasis(frame, path)
  expect_error(
    writer_entasis(path, append = TRUE, overwrite = FALSE), "for new files", class = "entasis_error_argument"
  )
  expect_error(
    write_csv_entasis(frame, tempfile(), append = TRUE, overwrite = FALSE), "for new files",
    class = "entasis_error_argument"
  )
  expect_error(write_entasis(frame, path, overwrite = NA), "TRUE or FALSE", class = "entasis_error_argument")
  expect_identical(read_entasis(path), frame)
})
