# A folder of files is one table, for read_entasis() and for open tables.

# Writes frames to files of a folder, by the paths that are their names.
folder_of <- function(frames) {
  root <- tempfile("folder")
  for (name in names(frames)) {
    path <- file.path(root, name)
    dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
    write_entasis(frames[[name]], path)
  }
  root
}

# The value of a call on a table `x`, in code that uses data.table.
with_table <- function(x, call) eval(
  call, list2env(list(x = x, .datatable.aware = TRUE), parent = asNamespace("data.table"))
)

frame <- function(n, first = 0L) {
  i <- first + seq_len(n)
  data.frame(
    id = i, x = ifelse(i %% 7 == 0, NA, i / 3), s = ifelse(i %% 5 == 0, NA, paste0("s", i %% 100)),
    f = factor(c("a", "b", "c")[i %% 3 + 1], levels = c("a", "b", "c")), l = i %% 2 == 0,
    d = as.Date("2024-01-01") + i %% 100, t = as.POSIXct(i, origin = "1970-01-01", tz = "UTC")
  )
}

test_that("a folder is read as its files one after the other", {
  for (n in list(c(5L, 3L, 1L), c(20000L, 30000L, 10L), c(10L, 20000L), 7L)) {
    ends <- cumsum(n)
    parts <- lapply(seq_along(n), function(i) frame(n[[i]], ends[[i]] - n[[i]]))
    names(parts) <- sprintf("part-%d.entasis", seq_along(n))
    root <- folder_of(parts)
    whole <- frame(sum(n))
    expect_identical(read_entasis(root), whole)
    expect_identical(
      read_entasis(root, columns = c("s", "id"), from = 2, to = 6), whole[2:6, c("s", "id")],
      ignore_attr = "row.names"
    )
    table <- entasis(root)
    expect_identical(nrow(table), as.integer(sum(n)))
    expect_identical(as.data.frame(table), whole)
    expect_identical(subset(table, x > 2 & l), subset(whole, x > 2 & l), ignore_attr = "row.names")
    unlink(root, recursive = TRUE)
  }
})

test_that("names of folders are columns", {
  root <- folder_of(list(
    "y=2023/d=2024-01-31/a.entasis" = data.frame(v = 1:3),
    "y=2024/d=2024-02-01/b.entasis" = data.frame(v = 4:5),
    "y=__HIVE_DEFAULT_PARTITION__/d=2024-02-01/c.entasis" = data.frame(v = 6L)
  ))
  on.exit(unlink(root, recursive = TRUE))
  expected <- data.frame(
    v = 1:6, y = c(2023L, 2023L, 2023L, 2024L, 2024L, NA), d = as.Date(c(rep("2024-01-31", 3), rep("2024-02-01", 3)))
  )
  expect_identical(read_entasis(root), expected)
  chosen <- subset(expected, d == as.Date("2024-02-01") & v > 4)
  expect_identical(subset(entasis(root), d == as.Date("2024-02-01") & v > 4), chosen, ignore_attr = "row.names")
  skip_if_not_installed("dplyr")
  suppressMessages(library(dplyr, warn.conflicts = FALSE))
  found <- entasis(root) |> filter(y == 2023) |> summarise(n = n(), v = sum(v)) |> collect()
  expect_identical(found, summarise(filter(expected, y == 2023), n = n(), v = sum(v)))
  skip_if_not_installed("data.table")
  table <- entasis(root, as = "data.table")
  expect_identical(as.data.frame(with_table(table, quote(x[y == 2024, .(v)]))), data.frame(v = 4:5))
})

test_that("texts, long numbers and missing values are keys", {
  root <- folder_of(list(
    "k=01/a.entasis" = data.frame(v = 1), "k=a%2Fb/b.entasis" = data.frame(v = 2), "k=/c.entasis" = data.frame(v = 3)
  ))
  on.exit(unlink(root, recursive = TRUE))
  found <- read_entasis(root)
  expect_identical(found$k[match(1:3, found$v)], c("01", "a/b", ""))
  long <- folder_of(list("k=3000000000/a.entasis" = data.frame(v = 1), "k=1/b.entasis" = data.frame(v = 2)))
  expect_equal(as.double(read_entasis(long)$k), c(1, 3e9))
})

test_that("types become those that hold all values", {
  root <- folder_of(list("a.entasis" = data.frame(v = 1:2, s = "a"), "b.entasis" = data.frame(s = "b", v = 2.5)))
  on.exit(unlink(root, recursive = TRUE))
  expect_identical(read_entasis(root), data.frame(v = c(1, 2, 2.5), s = c("a", "a", "b")))
  more <- folder_of(list(
    "a.entasis" = data.frame(f = factor(c("a", "b"))), "b.entasis" = data.frame(f = factor(c("c", "a")))
  ))
  expect_identical(read_entasis(more), data.frame(f = factor(c("a", "b", "c", "a"), levels = c("a", "b", "c"))))
})

test_that("row names, lists and attributes are joined as append_entasis() joins them", {
  first <- data.frame(v = 1:3, row.names = c("a", "b", "c"))
  second <- data.frame(v = 4:5, row.names = c("d", "e"))
  root <- folder_of(list("k=1/a.entasis" = first, "k=2/b.entasis" = second))
  on.exit(unlink(root, recursive = TRUE))
  expect_identical(
    read_entasis(root), data.frame(v = 1:5, k = c(1L, 1L, 1L, 2L, 2L), row.names = c("a", "b", "c", "d", "e"))
  )
  x <- data.frame(i = 1:2)
  x$l <- list(1, "a")
  more <- folder_of(list("a.entasis" = x, "b.entasis" = x[2:1, ]))
  expect_identical(read_entasis(more)$l, list(1, "a", "a", 1))
  expect_error(read_entasis(folder_of(list("a.entasis" = x, "b.entasis" = data.frame(i = 1L, l = "b")))), "b\\.entasis")
})

test_that("data sets are written, and read as the rows", {
  root <- tempfile("written")
  on.exit(unlink(root, recursive = TRUE))
  x <- data.frame(
    id = 1:10, city = c("Oslo", NA, "a/b", "Oslo", "", "01", "Oslo", NA, "é", "Oslo"), year = rep(c(2023, 2024), 5),
    day = as.Date("2024-01-30") + rep(0:1, each = 5), f = factor(rep(c("u", "v"), 5))
  )
  expect_invisible(write_dataset_entasis(x, root, partition_by = c("city", "year", "day")))
  expect_true(dir.exists(file.path(root, "city=Oslo", "year=2024", "day=2024-01-30")))
  found <- read_entasis(root)
  found <- found[order(found$id), names(x)]
  found$year <- as.double(found$year)
  rownames(found) <- NULL
  expect_identical(found, x)
  expect_error(write_dataset_entasis(x, root), "mode", class = "entasis_error_exists")
  write_dataset_entasis(transform(x[1:2, ], id = id + 10L, row.names = NULL), root, mode = "append")
  expect_identical(sort(read_entasis(root)$id), 1:12)
  expect_identical(sort(subset(entasis(root), city == "Oslo" & year == 2024)$id), c(4L, 10L))
  write_dataset_entasis(data.frame(v = 1:10), root, rows_per_file = 4, mode = "overwrite")
  expect_identical(read_entasis(root), data.frame(v = 1:10))
  expect_length(list.files(file.path(root, "_entasis")), 3L)
  write_dataset_entasis(data.frame(v = 11L), root, mode = "append")
  expect_identical(read_entasis(root), data.frame(v = 1:11))
  skip_if_not_installed("data.table")
  table <- data.table::data.table(a = c(2L, 1L, 2L), b = c("x", "y", "z"))
  other <- tempfile("table")
  write_dataset_entasis(table, other, partition_by = "a")
  found <- as.data.frame(read_entasis(other, as.data.table = TRUE))
  expect_identical(
    found[order(found$b), ], data.frame(b = c("x", "y", "z"), a = c(2L, 1L, 2L)), ignore_attr = "row.names"
  )
})

test_that("compact_entasis() joins the files with equal keys", {
  root <- tempfile("compact")
  on.exit(unlink(root, recursive = TRUE))
  x <- data.frame(k = c("a", "b", "a", NA), v = c(1, NA, NaN, 4))
  write_dataset_entasis(x, root, partition_by = "k")
  for (i in 1:2) write_dataset_entasis(transform(x[1:2, ], v = v + i, row.names = NULL), root, mode = "append")
  before <- read_entasis(root)
  expect_length(entasis:::parts_of(root)$files, 7L)
  expect_null(compact_entasis(root))
  expect_length(entasis:::parts_of(root)$files, 3L)
  after <- read_entasis(root)
  expect_identical(after, before[order(match(before$k, c("a", "b", NA))), ], ignore_attr = "row.names")
  number <- length(list.files(file.path(root, "_entasis")))
  compact_entasis(root)
  expect_length(list.files(file.path(root, "_entasis")), number)
  expect_error(compact_entasis(folder_of(list("a.entasis" = x))), "manifest")
})

test_that("mistakes leave the folder as it was", {
  root <- tempfile("mistakes")
  on.exit(unlink(root, recursive = TRUE))
  x <- data.frame(k = c(1.5, 2), v = 1:2)
  expect_error(write_dataset_entasis(x, root, partition_by = "k"), "whole numbers", class = "entasis_error_unsupported")
  expect_error(write_dataset_entasis(x, root, partition_by = "z"), "'z'")
  expect_error(write_dataset_entasis(x, root, partition_by = c("k", "k")), "twice")
  expect_error(write_dataset_entasis(x, root, mode = "new"), "mode")
  expect_error(write_dataset_entasis(1:3, root), "data frame")
  expect_error(write_dataset_entasis(data.frame(v = 1, row.names = "a"), root), "row names")
  expect_false(file.exists(root))
  write_dataset_entasis(data.frame(v = 1:2, s = "a"), root)
  before <- list.files(root, recursive = TRUE)
  expect_error(write_dataset_entasis(data.frame(v = 1.5, s = "a"), root, mode = "append"), "f64")
  expect_error(write_dataset_entasis(data.frame(v = 1L), root, mode = "append"), "'s'")
  expect_error(write_dataset_entasis(data.frame(v = 1L, s = "b", z = 1), root, mode = "append"), "'z'")
  expect_error(write_dataset_entasis(data.frame(v = 1L, s = "b"), root, partition_by = "s", mode = "append"), "none")
  expect_error(append_entasis(data.frame(v = 1L, s = "b"), root), "write_dataset_entasis")
  expect_identical(list.files(root, recursive = TRUE), before)
  other <- tempfile("other")
  dir.create(other)
  write_entasis(data.frame(v = 1), file.path(other, "a.entasis"))
  expect_error(write_dataset_entasis(data.frame(v = 1), other), "a\\.entasis", class = "entasis_error_exists")
})

test_that("folders that hold no table are errors with the file", {
  empty <- tempfile("empty")
  dir.create(empty)
  expect_error(read_entasis(empty), "\\.entasis")
  root <- folder_of(list("a.entasis" = data.frame(v = 1), "b.entasis" = data.frame(w = 1)))
  on.exit(unlink(root, recursive = TRUE))
  expect_error(read_entasis(root), "w.*b\\.entasis")
  write_entasis(list(1, "a"), file.path(root, "b.entasis"))
  expect_error(read_entasis(root), "b\\.entasis")
  expect_error(read_entasis(root, generation = 1), "neither generations")
  writeBin(as.raw(1:9), file.path(root, "b.entasis"))
  expect_error(entasis(root), "b\\.entasis")
})

test_that("verify_entasis() checks all files of a folder", {
  root <- tempfile("folder")
  on.exit(unlink(root, recursive = TRUE))
  write_dataset_entasis(frame(3000), root, partition_by = "f")
  files <- list.files(root, "^part-", recursive = TRUE, full.names = TRUE)
  manifest <- list.files(file.path(root, "_entasis"), full.names = TRUE)
  expect_identical(
    verify_entasis(root), sum(vapply(c(files, manifest), function(file) as.double(verify_entasis(file)), 0))
  )
  expect_error(verify_entasis(root, generation = 1), "is a folder", class = "entasis_error_argument")
  flip <- function(file) {
    bytes <- readBin(file, "raw", file.size(file))
    at <- length(bytes) %/% 3L
    bytes[at] <- xor(bytes[at], as.raw(4))
    writeBin(bytes, file)
  }
  flip(files[2])
  error <- tryCatch(verify_entasis(root), entasis_error_corrupt = identity)
  expect_match(conditionMessage(error), basename(files[2]), fixed = TRUE)
  flip(files[3])
  error <- tryCatch(verify_entasis(root), entasis_error_corrupt = identity)
  expect_match(conditionMessage(error), "2 of 4 files", fixed = TRUE)
  for (file in files[2:3]) expect_match(conditionMessage(error), basename(file), fixed = TRUE)
})

test_that("a manifest has bounds of short files, and a condition opens those that can match", {
  root <- tempfile("folder")
  on.exit(unlink(root, recursive = TRUE))
  whole <- frame(3000)
  whole$x[5] <- NaN
  write_dataset_entasis(whole, root, rows_per_file = 500)
  manifest <- read_entasis(list.files(file.path(root, "_entasis"), full.names = TRUE))
  expect_identical(as.double(manifest[["min/id"]]), seq(1, 2501, 500))
  expect_identical(as.double(manifest[["max/id"]]), seq(500, 3000, 500))
  expect_identical(
    manifest[["min/s"]],
    vapply(split(whole$s, ceiling(whole$id / 500)), function(s) min(s, na.rm = TRUE), "", USE.NAMES = FALSE)
  )
  expect_identical(
    manifest[["max/s"]],
    vapply(split(whole$s, ceiling(whole$id / 500)), function(s) max(s, na.rm = TRUE), "", USE.NAMES = FALSE)
  )
  expect_identical(manifest[["nan/x"]], c(TRUE, rep(FALSE, 5)))
  expect_identical(
    as.double(manifest[["missing/x"]]),
    vapply(split(whole$x, ceiling(whole$id / 500)), function(x) sum(is.na(x) & !is.nan(x)), 0, USE.NAMES = FALSE)
  )
  expect_identical(manifest[["min/d"]][1], as.Date("2024-01-01"))
  if (Sys.getenv("ENTASIS_PYTHON") == "") skip("needs ENTASIS_PYTHON")
  python(c(
    sprintf("scan = en.scan(r'%s')", root),
    "explained = scan.filter(en.col('id') == 1234).explain()",
    "assert 'files: 1 of 6' in explained, explained",
    "assert scan.filter((en.col('id') == 1234)).read(to='pandas')['id'].tolist() == [1234]"
  ))
})
