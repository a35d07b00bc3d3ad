# Rows of other types than the file's: rbind()'s result in the types of the file, or an error that
# leaves the file as it was. Earlier generations stay.

# Enough rows and values to be changed in place, with compression 0.
N_ROWS <- 20000L
N_LONG <- 150000L

frame_of <- function(a, from = 1L) {
  n <- length(a)
  z <- (from - 1L + seq_len(n)) / 7 + 1i
  structure(list(id = z, a = a, y = 2 * z, x = 3 * z, w = 5 * z), class = "data.frame", row.names = c(NA, -n))
}

# The values of a column of the file, repeated.
recycled <- function(a) {
  attrs <- attributes(a)[setdiff(names(attributes(a)), "names")]
  `attributes<-`(rep_len(unclass(a), N_ROWS), attrs)
}

# Values in the type and with the attributes of a column.
cast <- function(x, like) {
  if (is.factor(like)) {
    return(factor(as.character(x), union(levels(like), unique(as.character(x[!is.na(x)]))), ordered = is.ordered(like)))
  }
  if (inherits(like, "integer64")) {
    return(bit64::as.integer64(x))
  }
  x <- unclass(x)
  storage.mode(x) <- typeof(like)
  `attributes<-`(x, attributes(like))
}

int64 <- function(...) bit64::as.integer64(c(...))
day <- as.Date("2024-01-01")
at <- function(...) .POSIXct(c(...), "UTC")
span <- function(x, units) as.difftime(x, units = units)
low <- function(...) factor(c(...), c("low", "high"), ordered = TRUE)
idate <- function(x) structure(as.integer(x), class = c("IDate", "Date"))

# The column of the file, the rows, what is expected, and the joined values unless cast(rbind())
# has them. "in place": no column is stored anew. "anew": the column is, without `widen`. "widen":
# only `widen = TRUE` adds the rows. "error": nothing does.
CASES <- list(
  # Numbers.
  list(1L, 2, "in place"), list(1L, c(NA, -2147483647), "in place"), list(1L, -0, "widen"),
  list(1L, c(3, 2.5), "widen"),
  list(1L, NaN, "widen"), list(1L, Inf, "widen"), list(1L, 2147483648, "widen"), list(1L, TRUE, "in place"),
  list(2.5, 1L, "in place"),
  list(2.5, c(TRUE, NA), "in place"), list(2.5, 1i, "widen"), list(1i, 2.5, "in place"),
  list(1i, NA, "in place"), list(2.5, 2 + 0i, "in place"),
  list(2.5, complex(real = 2, imaginary = -0), "widen"),
  list(TRUE, 1L, "widen"), list(TRUE, 0, "widen"), list(TRUE, 1i, "widen"),
  list(structure(1L, label = "l"), 2, "in place", structure(2L, label = "l")),
  list(structure(1L, label = "l"), 2.5, "widen", structure(2.5, label = "l")),
  list(structure(1L, class = "own"), structure(2, class = "own"), "in place"),
  # No values.
  list(1L, character(), "in place", integer()), list(1L, NA_character_, "in place", NA_integer_),
  list("x", NA_real_, "in place"),
  list(day, NA, "in place"), list(1L, as.Date(NA), "in place", NA_integer_),
  list(at(1), .POSIXct(NA_real_, "Europe/Oslo"), "in place", at(NA)),
  list(low("low"), factor(character(), "other"), "in place", low()), list(NA, "x", "anew"),
  list(NA, 1L, "anew"), list(NA, 2.5, "anew"),
  list(NA, factor("x"), "anew"), list(NA, day, "anew"), list(NA, at(1.5), "anew"),
  list(NA, span(1, "mins"), "anew"), list(NA_integer_, 2.5, "anew"),
  list(NA_integer_, 2, "in place"), list(NA_real_, 2L, "in place"), list(NA_real_, "x", "anew"),
  list(NA_character_, 1L, "anew"),
  list(NA_character_, factor("x"), "in place", "x"),
  # Text.
  list("x", factor(c("y", NA)), "in place", c("y", NA)), list("x", low("low"), "in place", "low"),
  list(factor("x"), c("x", "y", NA), "in place"),
  list(factor("x"), factor(c("y", "x"), c("y", "x", "z")), "in place", factor(c("y", "x"), c("x", "y", "z"))),
  list(factor("x"), low("low"), "in place", factor("low", c("x", "low", "high"))),
  list(low("low"), c("high", NA), "in place"),
  list(low("low"), factor("high"), "in place"), list(low("low"), c("high", "mid"), "error"),
  list(low("low"), factor("mid"), "error"),
  list(low("low"), factor("low", c("high", "low"), ordered = TRUE), "error"),
  list(factor(c("x", NA)), addNA(factor("y")), "anew"),
  list(factor("x"), paste0("y", 1:300), "anew"), list("x", 1, "error"), list(1, "1", "error"),
  list(factor("1"), 1L, "error"), list(1L, factor("1"), "error"),
  list("x", TRUE, "error"), list(TRUE, "TRUE", "error"),
  # Dates and times.
  list(day, idate(19800), "in place"), list(idate(19800), day, "in place"),
  list(idate(19800), day + 0.5, "widen", structure(19723.5, class = c("IDate", "Date"))),
  list(day, day + 0.5, "anew"),
  list(day, 19800, "error"), list(19800, day, "error"), list(day, at(0), "error"), list(at(1), at(2.5), "anew"),
  list(at(1.5), at(2), "in place"),
  list(at(1e-9), at(1e10), "anew"), list(at(1), at(1 / 3), "anew"), list(at(1), .POSIXct(2L, "UTC"), "in place"),
  list(.POSIXct(2L, "UTC"), at(1), "in place"), list(.POSIXct(2L, "UTC"), at(1.5), "widen"),
  list(at(1), .POSIXct(1, "Europe/Oslo"), "error"),
  list(span(1, "hours"), span(90, "mins"), "in place"),
  list(span(1, "secs"), span(c(2, NA), "days"), "in place", span(c(172800, NA), "secs")),
  list(span(1, "hours"), span(c(60, 20), "mins"), "error"), list(span(1.5, "mins"), span(1L, "weeks"), "in place"),
  list(span(1L, "hours"), span(120, "mins"), "in place"),
  list(span(1L, "hours"), span(90L, "mins"), "widen", span(1.5, "hours"))
)

CASES_OF_INTEGER64 <- function() list(
  list(int64(1), 2, "in place"), list(int64(1), c(2L, NA), "in place"), list(int64(1), TRUE, "in place"),
  list(int64(1), 2.5, "error"),
  list(int64(1), 1e19, "error"), list(int64(1), NA, "in place"), list(1L, int64(2), "in place", 2L),
  list(1L, int64(NA), "in place", NA_integer_),
  list(1L, int64("9999999999"), "widen", int64("9999999999")), list(TRUE, int64(3), "widen", int64(3)),
  list(2.5, int64(3), "in place", 3),
  list(2.5, int64("9007199254740993"), "error"), list(NA, int64(3), "anew", int64(3)),
  list(1i, int64(3), "in place", 3 + 0i)
)

# The values of the file and the rows.
joined_values <- function(case, file, rows, expected) {
  if (length(case) < 4L && all(is.na(file)) && expected == "anew") {
    # rbind() loses the class.
    return(`attributes<-`(c(rep_len(NA, N_ROWS), unclass(rows)), attributes(rows)))
  }
  if (length(case) < 4L) {
    both <- suppressWarnings(rbind(frame_of(file), frame_of(rows)))$a
    return(if (expected == "in place") cast(both, file) else both)
  }
  if (is.factor(case[[4L]])) {
    return(factor(c(as.character(file), as.character(case[[4L]])), levels(case[[4L]]), ordered = is.ordered(file)))
  }
  like <- if (expected == "in place") file else case[[4L]]
  if (inherits(like, "integer64")) {
    return(c(int64(unclass(file)), case[[4L]]))
  }
  both <- c(unclass(file), unclass(case[[4L]]))
  storage.mode(both) <- typeof(like)
  `attributes<-`(both, attributes(like))
}

expect_case <- function(case, as_frame) {
  expected <- case[[3L]]
  file <- recycled(case[[1L]])
  rows <- case[[2L]]
  label <- paste(deparse(case), collapse = "")
  old <- as_frame(frame_of(file))
  new <- as_frame(frame_of(rows, N_ROWS + 1L))
  path <- written(old, compress = 0)
  on.exit(unlink(path))
  bytes <- readBin(path, "raw", file.size(path))
  widen <- FALSE
  if (expected %in% c("widen", "error")) {
    error <- tryCatch(append_entasis(new, path), entasis_error_argument = identity)
    expect_true(inherits(error, "entasis_error_argument") && identical(error$column, "a"), info = label)
    expect_identical(grepl("widen = TRUE makes the column", conditionMessage(error)), expected == "widen", info = label)
    if (expected == "error") {
      expect_error(
        append_entasis(new, path, widen = TRUE), "convert one of them", class = "entasis_error_argument",
        info = label
      )
    }
    expect_true(identical(readBin(path, "raw", file.size(path)), bytes), info = label)
    if (expected == "error") return(invisible())
    widen <- TRUE
  }
  anew <- append_entasis(new, path, durable = FALSE, widen = widen)
  expect_identical(anew, if (expected == "in place") character() else "a", info = label)
  verify_entasis(path)
  expect_identical(
    generations_entasis(path)$operation,
    c("write", if (expected == "in place") "append" else "replace columns"), info = label
  )
  found <- read_entasis(path)
  expect_true(alike(found$a, joined_values(case, file, rows, expected)), info = label)
  expect_true(identical(found$id, c(old$id, new$id)) && identical(class(found), class(old)), info = label)
  expect_true(alike(read_entasis(path, generation = 1), old), info = label)
}

test_that("rows of a data frame get the types of the file, or wider ones", {
  for (case in CASES) expect_case(case, identity)
})

test_that("integers of 64 bits fit, or make a column wider", {
  skip_if_not_installed("bit64")
  for (case in CASES_OF_INTEGER64()) expect_case(case, identity)
})

test_that("rows of tibbles and data.tables follow the same rules", {
  skip_if_not_installed("tibble")
  skip_if_not_installed("data.table")
  cases <- CASES[seq(1L, length(CASES), 4L)]
  for (case in cases) expect_case(case, tibble::as_tibble)
  for (case in cases) expect_case(case, data.table::as.data.table)
})

long_frame <- function() {
  i <- seq_len(N_LONG)
  data.frame(
    i = i, d = i / 7, f = factor(c("x", "y")[i %% 2L + 1L]), g = factor(c("x", "y")[i %% 3L %/% 2L + 1L]),
    none = NA
  )
}

# Appends to a long frame, and compares the file and its earlier generation.
expect_grown <- function(old, new, expected, anew, operation, ...) {
  path <- written(old, compress = 0)
  on.exit(unlink(path))
  size <- file.size(path)
  expect_identical(append_entasis(new, path, durable = FALSE, ...), anew)
  expect_identical(generations_entasis(path)$operation, c("write", operation))
  found <- read_entasis(path)
  expect_true(alike(found, expected), info = paste(all.equal(found, expected), collapse = "; "))
  expect_true(alike(read_entasis(path, generation = 1), old))
  verify_entasis(path)
  file.size(path) - size
}

test_that("several columns change at once, and others are not stored again", {
  old <- long_frame()
  new <- data.frame(i = 0.5, d = 1L, f = "z", g = factor(NA, "w"), none = as.Date("2024-01-01"))
  expected <- old[c(seq_len(N_LONG), NA), ]
  row.names(expected) <- NULL
  expected$i[N_LONG + 1L] <- 0.5
  expected$d[N_LONG + 1L] <- 1
  expected$f <- factor(c(as.character(old$f), "z"))
  levels(expected$g) <- c("x", "y", "w")
  expected$none <- as.Date(c(rep_len(NA, N_LONG), "2024-01-01"))
  grown <- expect_grown(old, new, expected, c("i", "g", "none"), "replace columns", widen = TRUE)
  # Eight bytes for each value of `i` and `none`, one for the codes of `g`, none for `d` and `f`.
  expect_lt(grown, 20 * N_LONG)
})

test_that("fill = TRUE adds columns, which are NA in earlier rows", {
  old <- long_frame()
  new <- data.frame(
    i = 1:2, at = .POSIXct(c(1.25, NA), "UTC"), h = factor("x", c("x", "y")), s = c("a", NA),
    label = structure(1:2, label = "l")
  )
  expected <- old[c(seq_len(N_LONG), NA, NA), ]
  row.names(expected) <- NULL
  expected$i[N_LONG + 1:2] <- 1:2
  expected$at <- .POSIXct(c(rep_len(NA, N_LONG), 1.25, NA), "UTC")
  expected$h <- factor(c(rep_len(NA, N_LONG), "x", "x"), c("x", "y"))
  expected$s <- c(rep_len(NA, N_LONG), "a", NA)
  expected$label <- structure(c(rep_len(NA, N_LONG), 1:2), label = "l")
  expect_grown(old, new, expected, character(), "add columns", fill = TRUE)
  new$i <- c(1.5, 2)
  expected$i[N_LONG + 1:2] <- c(1.5, 2)
  expect_grown(old, new, expected, "i", "replace columns", fill = TRUE, widen = TRUE)
})

test_that("new columns need an NA", {
  path <- written(data.frame(i = 1:3))
  for (x in list(as.raw(1), matrix(1:2, 1L))) {
    rows <- data.frame(i = 1L)
    rows$r <- x
    expect_error(
      append_entasis(rows, path, fill = TRUE), "column 'r' of type .* has no NA for the rows in the file",
      class = "entasis_error_argument"
    )
  }
  rows <- data.frame(i = 4L)
  rows$l <- list("a")
  append_entasis(rows, path, fill = TRUE)
  expected <- data.frame(i = 1:4)
  expected$l <- list(NULL, NULL, NULL, "a")
  expect_identical(read_entasis(path), expected)
  rows <- data.frame(i = 5L)
  rows$n <- data.frame(p = 1, q = "b")
  append_entasis(rows, path, fill = TRUE)
  expect_identical(read_entasis(path)$n, data.frame(p = c(NA, NA, NA, NA, 1), q = c(NA, NA, NA, NA, "b")))
})

test_that("factors that share a dictionary get levels of their own", {
  old <- long_frame()
  expected <- function(f, g, levels) {
    x <- old[c(seq_len(N_LONG), NA), ]
    row.names(x) <- NULL
    x$f <- factor(c(as.character(old$f), f), levels[[1L]])
    x$g <- factor(c(as.character(old$g), g), levels[[2L]])
    x
  }
  own <- data.frame(f = "z", g = "x")
  path <- written(old, compress = 0)
  expect_identical(append_entasis(own, path, fill = TRUE, durable = FALSE), "g")
  first <- expected("z", "x", list(c("x", "y", "z"), c("x", "y")))
  expect_true(alike(read_entasis(path), first))
  # Now they have equal levels again, but not the same dictionary.
  expect_identical(append_entasis(data.frame(f = "y", g = "z"), path, fill = TRUE, durable = FALSE), character())
  both <- c("x", "y", "z")
  expect_identical(levels(read_entasis(path)$g), both)
  expect_identical(generations_entasis(path)$operation, c("write", "replace columns", "append"))
  verify_entasis(path)
  unlink(path)
  expect_grown(
    old, data.frame(f = "z", g = "z"), expected("z", "z", list(both, both)), character(), "append", fill = TRUE
  )
})

test_that("a key stays where the wider column keeps its order", {
  skip_if_not_installed("data.table")
  old <- data.table::data.table(k = seq_len(N_LONG), d = seq_len(N_LONG) / 7, key = "k")
  joined <- function(k) data.table::data.table(k = c(seq_len(N_LONG), k), d = c(old$d, 1))
  expect_grown(
    old, data.frame(k = N_LONG + 0.5, d = 1), data.table::setkeyv(joined(N_LONG + 0.5), "k"), "k",
    "replace columns", widen = TRUE
  )
  expect_grown(old, data.frame(k = 0.5, d = 1), joined(0.5), "k", "replace columns", widen = TRUE)
})

test_that("vectors and files of lists follow the same rules, and are written anew", {
  path <- written(1:3)
  expect_error(
    append_entasis(0.5, path),
    "the vector is integer in the file, which does not hold 0.5 in row 1 .* widen = TRUE",
    class = "entasis_error_argument"
  )
  expect_identical(append_entasis(4, path), character())
  expect_identical(read_entasis(path), 1:4)
  expect_identical(append_entasis(0.5, path, widen = TRUE), NA_character_)
  expect_identical(read_entasis(path), c(1:4, 0.5))
  x <- data.frame(i = 1:2)
  x$l <- list(1, "a")
  write_entasis(x, path)
  rows <- data.frame(i = 3, l = I(list(2)))
  expect_identical(append_entasis(rows, path), c("i", "l"))
  expect_identical(read_entasis(path)$i, 1:3)
  rows$i <- 2.5
  expect_error(
    append_entasis(rows, path), "column 'i' is integer in the file, which does not hold 2.5 in row 1",
    class = "entasis_error_argument"
  )
  append_entasis(rows, path, widen = TRUE)
  expect_identical(read_entasis(path)$i, c(1:3, 2.5))
})

test_that("batches of a writer follow the same rules", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  parts <- list(
    data.frame(i = 1:3, n = NA, f = c("a", NA, "b"), stringsAsFactors = TRUE), data.frame(i = 4, n = "x", f = "c"),
    data.frame(i = 5.5, n = factor("y"), f = NA), data.frame(n = "z", f = "a", i = TRUE, new = 1L)
  )
  w <- writer_entasis(path, durable = FALSE, widen = TRUE)
  for (part in parts) w$write(part, fill = TRUE)
  w$close()
  expected <- data.frame(
    i = c(1:4, 5.5, 1), n = c(NA, NA, NA, "x", "y", "z"), f = factor(c("a", NA, "b", "c", NA, "a")),
    new = c(rep(NA, 5), 1L)
  )
  expect_identical(read_entasis(path), expected)
  expect_identical(generations_entasis(path)$operation, "write")
  verify_entasis(path)
  old <- long_frame()
  write_entasis(old, path, compress = 0)
  w <- writer_entasis(path, append = TRUE, durable = FALSE)
  expect_error(
    w$write(data.frame(i = 0.5), fill = TRUE), "column 'i' is integer in the file, which does not hold 0.5",
    class = "entasis_error_argument"
  )
  w$write(data.frame(i = 1), fill = TRUE)
  w$write(data.frame(i = 2L, new = "a"), fill = TRUE)
  w$write(data.frame(i = 3L, f = "z", g = "w"), fill = TRUE)
  expect_identical(read_entasis(path), old)
  expect_warning(w$close(), "1 batch was refused")
  found <- read_entasis(path)
  expect_identical(found$i, c(old$i, 1:3))
  expect_identical(found$new, c(rep_len(NA, N_LONG + 1L), "a", NA))
  expect_identical(as.character(utils::tail(found$g, 2L)), c(NA, "w"))
  expect_identical(length(generations_entasis(path)$operation), 2L)
  expect_true(alike(read_entasis(path, generation = 1), old))
  verify_entasis(path)
})
