# Columns that are dropped, renamed, added and replaced: the file holds what R gives for the frame
# in memory, or is unchanged.

# Long enough to be changed in place, with compression 0.
LONG <- 60000L

mixed_columns <- function(n = LONG) {
  i <- seq_len(n)
  latin <- rep_len(c("caf\xe9", "tea", NA), n)
  Encoding(latin) <- "latin1"
  data.frame(
    i = i, d = i / 7, l = i %% 2L == 0L, s = paste0("text ", i %% 13L, recycle0 = TRUE),
    f = factor(letters[i %% 3L + 1L], letters[3:1]),
    o = factor(letters[i %% 3L + 1L], letters[1:3], ordered = TRUE), day = as.Date("2020-01-01") + i %% 99L,
    utc = as.POSIXct("2020-01-01", tz = "UTC") + i, span = as.difftime(i / 2, units = "hours"), latin = latin,
    labelled = structure(i, label = "a label"), z = i * (1 - 1i)
  )
}

fresh <- function(n = LONG) {
  kind <- factor(rep_len(c("b", "a", NA), n), c("b", "a", "unused"))
  x <- data.frame(
    new = rev(seq_len(n)), kind, at = .POSIXct(seq_len(n) / 8, "Europe/Oslo"),
    text = rep_len(c("\u00e9", "e"), n)
  )
  names(x)[4L] <- "caf\u00e9"
  x
}

dropped <- function(x, columns) {
  x[columns] <- NULL
  x
}

renamed <- function(x, columns) {
  names(x)[match(columns, names(x))] <- names(columns)
  x
}

set <- function(x, new) {
  x[names(new)] <- new
  x
}

# Writes a frame, changes the file, and compares. `operations` are those of its generations.
expect_changed <- function(x, change, expected, operations = NULL, ...) {
  path <- written(x, compress = 0)
  on.exit(unlink(path))
  change(..., path = path, durable = FALSE)
  verify_entasis(path)
  found <- read_entasis(path)
  expect_true(alike(found, expected), info = paste(all.equal(found, expected), collapse = "; "))
  if (!is.null(operations)) {
    expect_identical(generations_entasis(path)$operation, operations)
    # The earlier generation is as it was.
    if (length(operations) > 1L) expect_true(alike(read_entasis(path, generation = 1), x))
  }
}

test_that("columns of a data frame change in place", {
  x <- mixed_columns()
  new <- fresh()
  for (columns in list("i", c("f", "utc"), c("latin", "s", "o"), c(3L, 1L), c(FALSE, rep(c(TRUE, FALSE), c(5L, 6L))))) {
    at <- if (is.logical(columns)) which(columns) else columns
    expect_changed(x, drop_columns_entasis, dropped(x, at), c("write", "drop columns"), columns)
  }
  for (columns in list(c(a = "i"), c(d = "i", i = "d"), c(caf = "latin", `a b` = "f"), c(i = "i"), character())) {
    expect_changed(x, rename_columns_entasis, renamed(x, columns), c("write", "rename columns"), columns)
  }
  expect_changed(x, add_columns_entasis, set(x, new), c("write", "add columns"), new)
  expect_changed(x, add_columns_entasis, x, c("write", "add columns"), new[0])
  names(new) <- c("f", "latin", "i", "day")
  expect_changed(x, replace_columns_entasis, set(x, new), c("write", "replace columns"), new)
})

test_that("small files and frames without rows or columns change", {
  for (n in c(0L, 1L, 100L)) {
    x <- mixed_columns(n)
    expect_changed(x, drop_columns_entasis, dropped(x, c("f", "latin")), c("write", "drop columns"), c("f", "latin"))
    expect_changed(x, drop_columns_entasis, dropped(x, names(x)), NULL, names(x))
    expect_changed(x, add_columns_entasis, set(x, fresh(n)), c("write", "add columns"), fresh(n))
    expect_changed(x[0], add_columns_entasis, set(x[0], fresh(n)), NULL, fresh(n))
  }
})

test_that("attributes and row names of the frame stay", {
  x <- structure(mixed_columns(LONG), source = list("a survey", year = 2020), row.names = paste0("r", seq_len(LONG)))
  new <- fresh()
  row.names(new) <- paste0("other", seq_len(LONG))
  expect_changed(x, drop_columns_entasis, dropped(x, c("i", "f")), c("write", "drop columns"), c("i", "f"))
  expect_changed(x, rename_columns_entasis, renamed(x, c(a = "i")), c("write", "rename columns"), c(a = "i"))
  expect_changed(x, add_columns_entasis, set(x, new), c("write", "add columns"), new)
})

test_that("tibbles change as by their methods", {
  skip_if_not_installed("tibble")
  x <- structure(tibble::as_tibble(mixed_columns()), source = "a survey")
  new <- tibble::as_tibble(fresh())
  expect_changed(x, drop_columns_entasis, dropped(x, c("i", "f")), c("write", "drop columns"), c("i", "f"))
  expect_changed(x, rename_columns_entasis, renamed(x, c(a = "i")), c("write", "rename columns"), c(a = "i"))
  expect_changed(x, add_columns_entasis, set(x, new), c("write", "add columns"), new)
  names(new)[1:2] <- c("i", "f")
  expect_changed(x, replace_columns_entasis, set(x, new[1:2]), c("write", "replace columns"), new[1:2])
})

test_that("keys of data.tables follow their columns", {
  skip_if_not_installed("data.table")
  x <- data.table::as.data.table(mixed_columns()[1:6])
  data.table::setkeyv(x, c("f", "i", "d"))
  by_set <- function(columns, value = NULL) {
    y <- data.table::copy(x)
    data.table::set(y, j = columns, value = value)
    y
  }
  for (columns in list("s", "d", "i", "f", c("l", "i"))) {
    expect_changed(x, drop_columns_entasis, by_set(columns), c("write", "drop columns"), columns)
  }
  y <- data.table::copy(x)
  data.table::setnames(y, c("i", "s"), c("f2", "text"))
  expect_identical(data.table::key(y), c("f", "f2", "d"))
  expect_changed(x, rename_columns_entasis, y, c("write", "rename columns"), c(f2 = "i", text = "s"))
  new <- data.table::data.table(i = rev(x$d))
  expect_changed(x, replace_columns_entasis, by_set("i", new$i), c("write", "replace columns"), new)
  data.table::setnames(new, "n")
  expect_changed(x, add_columns_entasis, by_set("n", new$n), c("write", "add columns"), new)
  # A data.table without columns has no rows.
  expect_changed(x, drop_columns_entasis, by_set(names(x)), NULL, names(x))
})

test_that("an index of a data.table goes, unless columns are added", {
  skip_if_not_installed("data.table")
  x <- data.table::data.table(a = LONG:1, b = seq_len(LONG), c = seq_len(LONG) / 3, d = seq_len(LONG) / 7)
  data.table::setindexv(x, "a")
  without <- data.table::copy(x)
  data.table::setindex(without, NULL)
  gone <- data.table::copy(without)
  data.table::set(gone, j = "c", value = NULL)
  expect_changed(x, drop_columns_entasis, gone, c("write", "drop columns"), "c")
  data.table::setnames(without, "c", "e")
  expect_changed(x, rename_columns_entasis, without, c("write", "rename columns"), c(e = "c"))
  y <- data.table::copy(x)
  data.table::set(y, j = "n", value = 1)
  expect_changed(x, add_columns_entasis, y, c("write", "add columns"), data.frame(n = rep(1, LONG)))
})

test_that("lists, matrices and frames as columns stay, and new ones are stored", {
  x <- mixed_columns()[1:3]
  x$list <- rep_len(list(1L, "a", NULL, list(2)), LONG)
  x$m <- matrix(seq_len(2L * LONG), LONG, dimnames = list(NULL, c("u", "v")))
  x$inner <- data.frame(p = x$i, q = "q")
  x$last <- factor("one")
  if (is_release) expect_changed(x, drop_columns_entasis, dropped(x, "d"), c("write", "drop columns"), "d")
  expect_changed(x, drop_columns_entasis, dropped(x, c("list", "m")), c("write", "drop columns"), c("list", "m"))
  expect_changed(
    x, rename_columns_entasis, renamed(x, c(k = "last", l2 = "list")), c("write", "rename columns"),
    c(k = "last", l2 = "list")
  )
  if (is_release) {
    expect_changed(
      x, rename_columns_entasis, renamed(x, c(k = "m", p = "inner")), c("write", "rename columns"),
      c(k = "m", p = "inner")
    )
  }
  new <- data.frame(m = seq_len(LONG), inner = "text")
  expect_changed(x, replace_columns_entasis, set(x, new), c("write", "replace columns"), new)
  expect_changed(x[1:3], add_columns_entasis, set(x[1:3], x["list"]), c("write", "add columns"), x["list"])
  expect_changed(
    x[1:3], add_columns_entasis, set(x[1:3], x[c("m", "inner")]), c("write", "add columns"), x[c("m", "inner")]
  )
  empty <- x[1:2]
  empty$none <- matrix(0, LONG, 0L)
  expect_changed(empty, drop_columns_entasis, dropped(empty, "i"), c("write", "drop columns"), "i")
})

test_that("names of any kind stay", {
  x <- mixed_columns()[1:5]
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  names(x) <- c("a", "a", NA, latin, "")
  same_names <- function(change, expected, ...) {
    path <- written(x, compress = 0)
    on.exit(unlink(path))
    change(..., path = path, durable = FALSE)
    found <- read_entasis(path)
    expect_true(alike(found, expected), info = paste(all.equal(found, expected), collapse = "; "))
    expect_identical(Encoding(names(found)), Encoding(names(expected)))
  }
  same_names(drop_columns_entasis, x[-1L], 1L)
  same_names(drop_columns_entasis, dropped(x, 4:5), 4:5)
  # `[<-` would make the names of the old columns unique.
  more <- set(x, fresh()[1:3])
  names(more)[2L] <- "a"
  same_names(add_columns_entasis, more, fresh()[1:3])
  same_names(rename_columns_entasis, renamed(x, c(k = latin)), c(k = latin))
  plain <- mixed_columns()[1:2]
  path <- written(plain, compress = 0)
  rename_columns_entasis(path, structure("i", names = latin), durable = FALSE)
  expect_identical(Encoding(names(read_entasis(path))), c("latin1", "unknown"))
  unlink(path)
  none <- x
  names(none) <- NULL
  expect_changed(none, drop_columns_entasis, none[-2L], c("write", "drop columns"), 2)
})

test_that("grouped tibbles change as by dplyr", {
  skip_if_not_installed("dplyr")
  x <- dplyr::group_by(tibble::as_tibble(mixed_columns(3000L)[1:6]), f, l)
  new <- data.frame(l = rep(TRUE, 3000L))
  expect_changed(x, drop_columns_entasis, dropped(x, "s"), c("write", "drop columns"), "s")
  expect_changed(x, drop_columns_entasis, dropped(x, "f"), c("write", "drop columns"), "f")
  expect_changed(x, rename_columns_entasis, renamed(x, c(kind = "f")), c("write", "rename columns"), c(kind = "f"))
  expect_changed(x, replace_columns_entasis, set(x, new), c("write", "replace columns"), new)
})

test_that("a sequence of changes leaves each state readable", {
  set.seed(11)
  x <- mixed_columns()
  path <- written(x, compress = 0)
  on.exit(unlink(path))
  states <- list(x)
  for (step in seq_len(by_tier(20L, 40L))) {
    names <- names(x)
    at <- sample(names, sample(1:2, 1L))
    new <- fresh()[sample(4L, length(at))]
    switch(if (length(names) > 6L) sample(4L, 1L) else 3L,
      {
        drop_columns_entasis(path, at, durable = FALSE)
        x <- dropped(x, at)
      },
      {
        columns <- structure(at, names = paste0(at, step))
        rename_columns_entasis(path, columns, durable = FALSE)
        x <- renamed(x, columns)
      },
      {
        names(new) <- paste0(names(new), step)
        add_columns_entasis(new, path, compress = 0, durable = FALSE)
        x <- set(x, new)
      },
      {
        names(new) <- at
        replace_columns_entasis(new, path, compress = 0, durable = FALSE)
        x <- set(x, new)
      }
    )
    expect_true(alike(read_entasis(path), x))
    states <- c(states, list(x))
  }
  verify_entasis(path)
  numbers <- generations_entasis(path)$number
  expect_identical(length(numbers), length(states))
  for (k in seq_along(states)) expect_true(alike(read_entasis(path, generation = numbers[k]), states[[k]]))
  compact_entasis(path)
  expect_true(alike(read_entasis(path), x))
})

test_that("wrong calls leave the file as it is", {
  x <- mixed_columns(100L)
  path <- written(x)
  on.exit(unlink(path))
  before <- readBin(path, "raw", file.size(path))
  refused <- function(call, message, class = "entasis_error_argument") {
    expect_error(call, message, class = class)
    expect_identical(readBin(path, "raw", file.size(path)), before)
  }
  refused(drop_columns_entasis(path, "nope"), "no column 'nope'")
  refused(drop_columns_entasis(path, 99), "from 1 to 12")
  refused(rename_columns_entasis(path, c(a = "nope")), "no column 'nope'")
  refused(rename_columns_entasis(path, "i"), "new names as its names")
  refused(rename_columns_entasis(path, c(d = "i")), "two columns would have the name 'd'")
  refused(rename_columns_entasis(path, c(a = "i", b = "i")), "column 'i' gets two names")
  refused(add_columns_entasis(x["i"], path), "has a column 'i' already: use replace_columns_entasis")
  refused(add_columns_entasis(data.frame(n = 1:3), path), "'x' has 3 rows, and the file 100")
  refused(add_columns_entasis(1:100, path), "'x' must be a data frame")
  refused(add_columns_entasis(structure(fresh(100L), names = rep("n", 4L)), path), "two columns 'n'")
  refused(replace_columns_entasis(fresh(100L), path), "no column 'new', .*: use add_columns_entasis")
  refused(replace_columns_entasis(x[1:2, 1:2], path), "'x' has 2 rows")
  refused(
    add_columns_entasis(data.frame(n = I(rep(list(sum), 100L))), path), "not supported",
    "entasis_error_unsupported"
  )
  held <- entasis:::begin_change(path, entasis:::change_options(NULL, 0))
  refused(drop_columns_entasis(path, "i", wait = 0), "another", "entasis_error_busy")
  .Call(entasis:::C_change_end, held)
  # The lock is given back after errors.
  expect_silent(drop_columns_entasis(path, "i", wait = 0))
  absent <- tempfile()
  expect_error(drop_columns_entasis(absent, "i"), "No such file", class = "entasis_error_io")
})

test_that("the value comes before the path", {
  path <- written(data.frame(a = 1:2))
  on.exit(unlink(path))
  before <- readBin(path, "raw", file.size(path))
  swapped <- function(call, name) {
    function_name <- as.character(substitute(call)[[1L]])
    expected <- paste0(
      function_name, "() takes '", name, "' first, then 'path': ", function_name, "(", name, ", ",
      encodeString(path, quote = "\""), ")"
    )
    expect_error(call, expected, fixed = TRUE, class = "entasis_error_argument")
    expect_identical(readBin(path, "raw", file.size(path)), before)
  }
  swapped(add_columns_entasis(path, data.frame(b = 3:4)), "x")
  swapped(replace_columns_entasis(path, data.frame(a = 3:4)), "x")
  swapped(set_metadata_entasis(path, list(author = "Ada")), "value")
  swapped(set_metadata_entasis(path, NULL), "value")
  swapped(set_metadata_entasis(path, c("a", "b")), "value")
  swapped(update_entasis(path, list(a = 1)), "values")
  swapped(update_entasis(path, remove = "a"), "values")
  expect_error(set_metadata_entasis(path, paste0(path, "x")), "No such file", class = "entasis_error_io")
  add_columns_entasis(path = path, x = data.frame(b = 3:4))
  replace_columns_entasis(path = path, x = data.frame(a = 5:6))
  set_metadata_entasis(path = path, value = "text")
  expect_identical(read_entasis(path), data.frame(a = 5:6, b = 3:4))
  expect_identical(metadata_entasis(path)$metadata, "text")
  write_entasis(list(a = 1), path)
  update_entasis(path = path, remove = "a")
  expect_identical(length(read_entasis(path)), 0L)
})

test_that("the values of dropped columns leave the file with compact = TRUE", {
  x <- data.frame(n = as.double(1:150000), s = "kept")
  secret <- charToRaw("a secret that is stored as it is")
  x$secret <- rawToChar(secret)
  has_secret <- function(path) {
    bytes <- readBin(path, "raw", file.size(path))
    grepl(rawToChar(secret), rawToChar(bytes[bytes != 0]), fixed = TRUE, useBytes = TRUE)
  }
  path <- written(x, compress = 0)
  on.exit(unlink(path))
  drop_columns_entasis(path, "secret", durable = FALSE)
  expect_true(has_secret(path))
  expect_identical(nrow(generations_entasis(path)), 2L)
  write_entasis(x, path, compress = 0)
  expect_invisible(drop_columns_entasis(path, "secret", durable = FALSE, compact = TRUE))
  expect_false(has_secret(path))
  expect_identical(nrow(generations_entasis(path)), 1L)
  expect_identical(read_entasis(path), x[c("n", "s")])
  expect_error(
    drop_columns_entasis(path, "s", compact = 1), "'compact' must be TRUE or FALSE",
    class = "entasis_error_argument"
  )
  expect_identical(names(entasis(path)), c("n", "s"))
})

test_that("the command adds and replaces columns as R does", {
  for (n in c(20L, LONG)) {
    x <- mixed_columns(n)
    new <- fresh(n)
    latin <- "\xe9"
    Encoding(latin) <- "latin1"
    new$new_latin <- rep_len(c(latin, "a", NA), n)
    new$new_levels <- factor(rep_len(c("b", latin), n), c(latin, "b"))
    new$new_labelled <- structure(seq_len(n), label = "a label", class = "a class")
    new$new_named <- structure(rep(1.5, n), unit = c(of = "m", by = latin))
    row.names(new) <- paste0("row ", seq_len(n))
    path <- written(x)
    from <- written(new)
    expect_identical(command("add", path, from), "")
    expected <- set(x, new)
    expect_true(
      alike(read_entasis(path), expected),
      info = paste(all.equal(read_entasis(path), expected), collapse = "; ")
    )
    verify_entasis(path)
    # Other columns under the names of the file.
    others <- new[c("new_labelled", "new_latin", "new_levels")]
    names(others) <- names(x)[1:3]
    write_entasis(others, from)
    expect_identical(command("replace", path, from, "--columns", names(x)[3L], "--columns", names(x)[1L]), "")
    expected <- set(expected, others[c(3L, 1L)])
    expect_true(
      alike(read_entasis(path), expected),
      info = paste(all.equal(read_entasis(path), expected), collapse = "; ")
    )
    verify_entasis(path)
    unlink(c(path, from))
  }
})

test_that("the command leaves to R what it does not copy", {
  x <- data.frame(a = 1:3)
  path <- written(x)
  on.exit(unlink(path))
  from <- function(value) {
    file <- written(value)
    command("add", path, file)
  }
  list_column <- data.frame(l = 1:3)
  list_column$l <- list(1, "b", NULL)
  matrix_column <- data.frame(m = 1:3)
  matrix_column$m <- matrix(1:6, 3)
  model <- data.frame(m = 1:3)
  attr(model$m, "model") <- stats::formula("y ~ x", globalenv())
  for (value in list(list_column, matrix_column, model, 1:3)) {
    expect_match(from(value), "use add_columns_entasis in R")
  }
  if (requireNamespace("data.table", quietly = TRUE)) {
    write_entasis(data.table::data.table(a = 1:3, key = "a"), path)
    expect_match(from(data.frame(b = 1:3)), "\"sorted\".*use add_columns_entasis in R")
  }
  python(sprintf("en.write(pd.DataFrame({'b': [1, 2, 3]}), r'%s')", path))
  expect_match(from(data.frame(c = 1:3)), "the file is of pandas, the other one of r")
})

test_that("files of other values are refused", {
  for (x in list(1:3, list(a = 1), list(data.frame(a = 1)))) {
    path <- written(x)
    expect_error(drop_columns_entasis(path, "a"), "holds no data frame", class = "entasis_error_unsupported")
    unlink(path)
  }
})

test_that("files of Python are refused", {
  path <- tempfile(fileext = ".entasis")
  python(sprintf("en.write(pd.DataFrame({'a': [1, 2]}), r'%s')", path))
  expect_error(drop_columns_entasis(path, "a"), "entasis.drop_columns", class = "entasis_error_unsupported")
  unlink(path)
})
