# Frames of each class. Methods must return the same for the file as for memory.
lazy_frames <- function() {
  n <- 12L
  plain <- data.frame(
    id = seq_len(n), x = c(NA, rep_len(c(1.5, 2, 3), n - 1L)), g = rep_len(c("a", "b", NA), n),
    f = factor(rep_len(c("u", "v", "w"), n)),
    d = as.Date("2024-02-27") + seq_len(n), l = rep_len(c(TRUE, NA, FALSE), n)
  )
  frames <- list(
    plain = plain, named = mtcars, no_rows = plain[0L, ], no_columns = plain[, 0L], nothing = data.frame(),
    matrix = cbind(plain[1:3], m = I(matrix(as.double(1:24), n)))
  )
  class(frames$matrix$m) <- NULL
  frames$frame <- plain[1:3]
  frames$frame$df <- plain[4:5]
  frames$list <- plain[1:2]
  frames$list$l <- rep(list(1:3, "a", NULL, NA), 3L)
  if (requireNamespace("tibble", quietly = TRUE)) {
    frames$tibble <- tibble::as_tibble(plain)
    frames$tibble_list <- tibble::as_tibble(frames$list)
  }
  if (requireNamespace("data.table", quietly = TRUE)) frames$data.table <- data.table::data.table(plain, key = "id")
  if (requireNamespace("dplyr", quietly = TRUE)) frames$grouped <- dplyr::group_by(plain, f)
  frames
}

# A call returns the same for the file as for the data frame: a value, or an error.
expect_same <- function(call, frames = lazy_frames(), names = NULL) {
  for (name in if (is.null(names)) names(frames) else intersect(names, names(frames))) {
    path <- written(frames[[name]])
    value <- function(z) tryCatch(call(z), error = function(e) "an error")
    expect_equal(
      value(entasis(path)), value(read_entasis(path)), tolerance = 0,
      info = paste(name, deparse(body(call))[1L])
    )
  }
}

test_that("the object is neither a list nor an environment, and is saved with its path", {
  path <- written(iris)
  z <- entasis(path)
  expect_identical(typeof(z), "externalptr")
  expect_false(is.list(z) || is.environment(z) || is.vector(z))
  walk <- function(x) for (value in x) stop("seen")
  expect_error(walk(z), "invalid for")
  expect_identical(unserialize(serialize(z, NULL))[3:4, ], z[3:4, ])
  expect_false(identical(z, entasis(written(mtcars))))
  expect_identical(class(entasis(path)), "entasis_table")
  tree <- entasis(written(list(a = 1)))
  expect_false(is.list(tree) || is.environment(tree))
  expect_error(walk(tree), "invalid for")
  skip_if_not_installed("data.table")
  expect_error(data.table::setDT(z))
  expect_identical(dim(z), dim(iris))
})

test_that("a file that is read in another process is the same", {
  cluster <- parallel::makeCluster(1L)
  on.exit(parallel::stopCluster(cluster))
  path <- written(list(frame = iris, part = list(2)))
  found <- parallel::clusterApply(cluster, list(entasis(path)$frame), function(z, libs) {
    .libPaths(libs)
    loadNamespace("entasis")
    list(dim(z), z[c(150, 1), "Sepal.Length"], with(z, mean(Petal.Width)))
  }, .libPaths())[[1L]]
  expect_identical(found[[1L]], dim(iris))
  expect_identical(found[[2L]]$Sepal.Length, iris$Sepal.Length[c(150, 1)])
  expect_identical(found[[3L]], mean(iris$Petal.Width))
})

test_that("methods give what they give of the data frame", {
  expect_same(function(z) dim(z))
  expect_same(function(z) c(nrow(z), ncol(z), NROW(z), NCOL(z), length(z)))
  expect_same(function(z) names(z))
  expect_same(function(z) colnames(z))
  expect_same(function(z) rownames(z))
  expect_same(function(z) summary(z))
  expect_same(function(z) summary(z, digits = 3, maxsum = 4))
  expect_same(function(z) summary(z, quantile.type = 6))
  expect_same(function(z) as.matrix(z))
  expect_same(function(z) data.matrix(z), names = c("plain", "named", "no_rows", "tibble", "data.table"))
  expect_same(function(z) t(z))
  expect_same(function(z) is.na(z))
  expect_same(function(z) anyNA(z))
  expect_same(function(z) na.omit(z))
  expect_same(function(z) unique(z))
  expect_same(function(z) duplicated(z))
  expect_same(function(z) anyDuplicated(z))
  expect_same(function(z) rev(z))
  expect_same(function(z) format(z))
  expect_same(function(z) unlist(z))
  expect_same(function(z) as.list(z))
  expect_same(function(z) as.data.frame(z))
  # A group or key of some rows is for the tests of partial reads.
  whole <- setdiff(names(lazy_frames()), c("grouped", "data.table"))
  expect_same(function(z) head(z, 3), names = whole)
  expect_same(function(z) bare(as.data.frame(tail(z, 3))), names = setdiff(whole, c("frame", "named")))
  expect_same(function(z) all.equal(z, mtcars))
  expect_true(all.equal(entasis(written(iris)), iris))
})

# Evaluates an expression in `x`.
value_or_error <- function(expression, x) tryCatch(eval(expression, list(x = x)), error = function(e) "an error")

# Without row names that are numbers, which start again at 1.
bare_frame <- function(x) if (is.data.frame(x) && is.integer(attr(x, "row.names"))) bare(x) else x

test_that("columns and rows are selected by the rules of R", {
  frame <- data.frame(aa = 1:3, b = c("u", NA, "w"), cc = factor(c("p", "q", "p")))
  frame$l <- list(1, "two", NULL)
  named <- data.frame(aa = 1:3, b = 4:6, cc = 7:9, row.names = c("Honda Civic", "Fiat 128", "Fiat X1"))
  chosen <- expression(
    x[TRUE], x[c(TRUE, FALSE)], x[c(FALSE, TRUE, TRUE)], x[logical()], x[NA], x[c(TRUE, NA)], x[rep(TRUE, 9)],
    x[0], x[c(0, 1)], x[NULL],
    x[factor("b")], x[-1], x[c(-1, -9)], x[c(-1, 1)], x[9], x["zz"], x[1.9], x[list(1)], x[, TRUE],
    x[, 0, drop = FALSE], x[2:3, 0],
    x[, NULL, drop = FALSE], x[, c(TRUE, FALSE), drop = FALSE], x[NULL, ], x[logical(), ], x[c(TRUE, FALSE), ],
    x[c(FALSE, TRUE), "b", drop = TRUE],
    x[factor("b"), ], x[[TRUE]], x[[FALSE]], x[[c(2, 3)]], x[[c(3, 1)]], x[["zz"]], x[["aa", exact = TRUE]],
    x[["a", exact = FALSE]],
    x[[-1]], x[[-3]], x[[NA]], x[[NULL]], x[[9]], x[[0]], x[[2.9]], x[[3, "b"]], x[[2, 3]], x[[2, "l"]], x$a,
    x$zz, x$b, getElement(x, "b"),
    x[cbind(1:2, 2:1)], x[is.na(x)], x[matrix(1:2)], x[matrix(1:2), ], x[1, , drop = TRUE],
    x[2, c("aa", "b"), drop = TRUE]
  )
  frames <- list(frame, named, tibble_of(named))
  for (frame in frames) {
    is_tibble <- inherits(frame, "tbl_df")
    z <- entasis(written(frame))
    for (expression in chosen) {
      expected <- suppressWarnings(value_or_error(expression, frame))
      found <- value_or_error(expression, z)
      # Files allow some forms that tibbles refuse.
      if (is_tibble &&
          (identical(expected, "an error") || deparse(expression) %in% c("x$a", "x[[\"a\", exact = FALSE]]", "x[1, , drop = TRUE]"))) {
        next
      }
      expect_identical(bare_frame(found), bare_frame(expected), label = deparse(expression))
    }
  }
  z <- entasis(written(named))
  expect_identical(z["Honda", ], named["Honda", ])
  expect_error(z["Fiat", ], "no row named 'Fiat'", class = "entasis_error_argument")
  expect_error(z[[-1]], "one column, by its name or its number from 1 to 3, not -1", class = "entasis_error_argument")
  two <- entasis(written(named[1:2]))
  expect_identical(two[[-1]], 4:6)
  if (!inherits(frames[[3L]], "tbl_df")) skip("needs tibble")
  z <- entasis(written(frames[[3L]]))
  expect_error(z[c(TRUE, FALSE), ], "mask of rows must have length 3 or 1, not 2", class = "entasis_error_argument")
  expect_error(z[c(TRUE, FALSE)], "mask of columns must have length 3 or 1, not 2", class = "entasis_error_argument")
  expect_null(z$a)
})

test_that("parts of lists are selected by the rules of R", {
  x <- list(aa = 1:3, b = list(c = "x"), cc = "z")
  tree <- entasis(written(x))
  for (expression in expression(
    x[TRUE], x[c(TRUE, FALSE)], x[0], x[c(0, 1)], x[NULL], x[factor("b")], x[-1], x[logical()], x$a, x$zz,
    x[[TRUE]], x[["a", exact = FALSE]],
    x[[c("b", "c")]], mapply(length, x), Map(length, x), lengths(x), format(x)
  )) {
    expect_identical(value_or_error(expression, tree), value_or_error(expression, x), label = deparse(expression))
  }
  expect_error(tree[[-1]], "one part, by its name or its number", class = "entasis_error_argument")
  expect_error(tree[c(TRUE, NA)], "no NA", class = "entasis_error_argument")
  expect_error(cbind(tree, 1), "the list is a file", class = "entasis_error_argument")
  expect_error(rbind(tree, tree), "the list is a file", class = "entasis_error_argument")
})

test_that("a file of a vector opens as its value", {
  values <- list(
    1:3, c(a = 1, b = NA), matrix(1:4, 2), factor(c("a", NA)), as.Date("2024-01-01"), ts(1:5, start = 2000),
    NULL, Sys.time()
  )
  for (package in c("zoo", "xts")) if (requireNamespace(package, quietly = TRUE)) values <- c(values, list(zoo::zoo(1:3, as.Date("2024-01-01") + 0:2)))
  if (requireNamespace("xts", quietly = TRUE)) values <- c(values, list(xts::xts(1:3, as.Date("2024-01-01") + 0:2)))
  for (value in values) expect_identical(entasis(written(value)), value)
  expect_error(entasis(written(1:3), as = "data.table"), "the file holds a vector", class = "entasis_error_argument")
})

test_that("functions with a permissive default method get the data frame", {
  frame <- data.frame(id = 1:3, x = c(NA, 2, 3), f = factor(c("a", "b", "a"), levels = c("a", "b", "none")))
  z <- entasis(written(frame))
  for (expression in expression(
    na.exclude(x), na.omit(x), na.fail(x[-2]), na.fail(x), lengths(x), droplevels(x), stack(x), stack(x, 1),
    head(x, c(2, 2)), case.names(x), labels(x)
  )) {
    expect_identical(
      suppressWarnings(value_or_error(expression, z)), suppressWarnings(value_or_error(expression, frame)),
      label = deparse(expression)
    )
  }
  others <- list(
    haven = c("zap_labels", "zap_label", "zap_formats", "zap_missing", "zap_widths"),
    zoo = c("coredata", "index", "na.locf"),
    sjlabelled = c("get_labels", "get_label", "remove_all_labels", "as_label"), Hmisc = "label", units = "as_units",
    datawizard = c("to_factor", "standardize", "reverse")
  )
  for (package in names(others)) {
    if (!requireNamespace(package, quietly = TRUE)) next
    for (name in others[[package]]) {
      f <- getExportedValue(package, name)
      expect_equal(
        tryCatch(f(entasis(written(frame))), error = conditionMessage),
        tryCatch(f(frame), error = conditionMessage), label = name
      )
    }
  }
  expect_s3_class(z, "entasis_table", exact = TRUE)
})

test_that("the geometry of sf is read without the other columns", {
  skip_if_not_installed("sf")
  points <- sf::st_sfc(sf::st_point(c(7.4, 46.9)), sf::st_point(c(8.5, 47.4)), crs = 4326)
  frame <- sf::st_sf(name = c("Bern", "Z\u00fcrich"), geometry = points)
  z <- entasis(written(frame))
  expect_equal(sf::st_crs(z), sf::st_crs(frame))
  expect_true(sf::st_is_longlat(z))
  expect_equal(sf::st_geometry(z), sf::st_geometry(frame))
  expect_equal(sf::st_bbox(z), sf::st_bbox(frame))
  expect_equal(sf::st_drop_geometry(z), sf::st_drop_geometry(frame))
  expect_equal(sf::st_as_sf(z), frame)
  expect_equal(sf::st_coordinates(z), sf::st_coordinates(frame))
  expect_equal(sf::st_filter(z, sf::st_buffer(points[1L], 100)), sf::st_filter(frame, sf::st_buffer(points[1L], 100)))
  expect_error(sf::st_crs(entasis(written(iris))))
})

test_that("columns are walked", {
  expect_same(function(z) lapply(z, class))
  expect_same(function(z) sapply(z, class))
  expect_same(function(z) vapply(z, length, 0L))
  expect_same(function(z) Map(class, z))
  expect_same(function(z) mapply(function(x, k) k, z, seq_along(z)))
  expect_same(
    function(z) Filter(is.numeric, z),
    names = c("plain", "named", "no_rows", "no_columns", "nothing", "matrix", "frame", "tibble")
  )
  expect_same(function(z) suppressWarnings(stack(z)), names = c("plain", "named"))
  expect_same(function(z) do.call(rbind, list(z, z)))
})

test_that("conditions find columns before variables, and variables of the caller after", {
  id <- 5000
  limit <- 4
  data <- names <- k <- scope <- 3
  expect_same(function(z) with(z, mean(id)))
  expect_same(function(z) with(z, sum(id > limit)), names = c("plain", "tibble", "data.table"))
  expect_same(function(z) with(z, id + data + names + k + scope), names = "plain")
  expect_same(function(z) with(z, get("id")), names = "plain")
  expect_same(function(z) with(z, z_that_is_nowhere))
  expect_same(function(z) z[with(z, order(g, -id)), ]$id, names = c("plain", "tibble"))
  inside <- function(z, limit) subset(z, id > limit)
  expect_same(function(z) bare(inside(z, 9)), names = c("plain", "list"))
  for (name in c("plain", "tibble", "data.table", "list", "matrix")) {
    frame <- lazy_frames()[[name]]
    if (is.null(frame)) next
    z <- entasis(written(frame))
    frame <- read_entasis(written(frame))
    for (pair in list(
      list(subset(z, x > 1.5), subset(frame, x > 1.5)),
      list(subset(z, x > 1.5, c(id, x)), subset(frame, x > 1.5, c(id, x))),
      list(subset(z, select = -id), subset(frame, select = -id)),
      list(subset(z, select = id:x), subset(frame, select = id:x)),
      list(subset(z, id > limit & x == 2, id), subset(frame, id > limit & x == 2, id)),
      list(subset(z, FALSE), subset(frame, FALSE)),
      list(subset(z, TRUE, "x"), subset(frame, TRUE, "x"))
    )) {
      expect_equal(bare(as.data.frame(pair[[1L]])), bare(as.data.frame(pair[[2L]])), tolerance = 0, info = name)
      expect_identical(class(pair[[1L]]), class(pair[[2L]]))
    }
  }
  z <- entasis(written(lazy_frames()$plain))
  expect_error(subset(z, id), "logical", class = "entasis_error_argument")
  expect_identical(subset(z, id == 3, x, drop = TRUE), 2)
})

test_that("a condition reads the columns that it names, and no others", {
  frame <- data.frame(a = runif(1e5), b = runif(1e5))
  path <- written(frame, compress = 0)
  bytes <- readBin(path, "raw", file.size(path))
  wanted <- writeBin(frame$a[500:502], raw())
  at <- grepRaw(wanted, bytes, fixed = TRUE)
  expect_length(at, 1L)
  bytes[at] <- xor(bytes[at], as.raw(1L))
  writeBin(bytes, path)
  z <- entasis(path)
  expect_error(z$a, class = "entasis_error_corrupt")
  expect_error(with(z, sum(a)), class = "entasis_error_corrupt")
  expect_identical(with(z, sum(b)), sum(frame$b))
  expect_identical(subset(z, b > 0.99, b)$b, frame$b[frame$b > 0.99])
})

test_that("frames are changed, bound, split and merged in memory", {
  x <- 100
  expect_same(function(z) transform(z, twice = 2 * id), names = c("plain", "tibble", "list"))
  expect_same(function(z) transform(z, y = id + x, x = NULL), names = "plain")
  expect_same(function(z) rbind(z, z))
  expect_same(function(z) cbind(z, z), names = c("plain", "named", "tibble", "data.table", "matrix"))
  vector <- 1:12
  expect_same(function(z) cbind(z, vector, w = 2, I(vector)), names = c("plain", "tibble"))
  expect_same(function(z) cbind(z, vector), names = "data.table")
  expect_same(function(z) split(z, z$f), names = c("plain", "tibble", "data.table", "frame"))
  expect_same(function(z) split(z, ~ g + f), names = c("plain", "tibble"))
  expect_same(function(z) merge(z, data.frame(f = c("u", "v"), y = 1:2)), names = c("plain", "tibble"))
  expect_same(function(z) merge(z, z, by = "id"), names = c("plain", "tibble", "data.table"))
  expect_same(function(z) aggregate(x ~ f, z, mean), names = c("plain", "tibble", "data.table"))
  expect_same(function(z) aggregate(z["id"], list(z$f), sum), names = "plain")
  expect_same(function(z) aggregate(z, list(group = z$cyl), mean), names = "named")
  expect_same(function(z) coef(lm(mpg ~ wt + x, transform(z, x = hp))), names = "named")
  expect_same(function(z) coef(lm(mpg ~ wt, z)), names = "named")
  expect_same(function(z) c(unclass(by(z, z$cyl, nrow))), names = "named")
  plain <- lazy_frames()$plain
  z <- entasis(written(plain))
  expect_identical(rbind(z, plain), rbind(plain, plain))
  expect_identical(cbind(z, plain), cbind(plain, plain))
  expect_identical(cbind(plain, z), cbind(plain, plain))
  expect_error(rbind(plain, z), "put it first, or read it with x\\[\\]", class = "entasis_error_argument")
  expect_error(rbind(plain[0L, ], z), "put it first", class = "entasis_error_argument")
  expect_false(is.matrix(z))
})

test_that("a frame without names has its columns", {
  frame <- unname(data.frame(a = 1:2, b = c(2.5, 3)))
  z <- entasis(written(frame))
  expect_identical(z[], frame)
  expect_null(names(z))
  expect_identical(z[[2L]], c(2.5, 3))
  expect_identical(z[2L, 2L, drop = TRUE], 3)
  expect_identical(lapply(z, class), lapply(frame, class))
  expect_identical(dim(head(z, 1L)), c(1L, 2L))
  expect_error(z["a"], "no column 'a'", class = "entasis_error_argument")
})

test_that("looking for missing values does not show groups", {
  skip_if_not_installed("dplyr")
  frame <- dplyr::group_by(data.frame(g = c(1, 1, 2), x = c(1L, NA, 3L)), g)
  z <- entasis(written(frame))
  expect_no_message(expect_true(anyNA(z)))
  expect_no_message(expect_false(anyNA(entasis(written(frame[1L, ])))))
  expect_no_message(expect_identical(with(z, sum(g)), 4))
  expect_no_message(expect_identical(lapply(z, class), lapply(frame, class)))
})

test_that("what a file can't do is an error that says so", {
  for (z in lapply(list(iris, list(a = 1:3, b = "x")), function(x) c(list(entasis(written(x)))))) {
    z <- z[[1L]]
    for (call in expression(
      z + 1, 1 + z, z == z, -z, !z, log(z), round(z), sum(z), range(z), any(z), mean(z), median(z), quantile(z),
      sort(z), order(z),
      c(z, z), rep(z, 2), as.character(z), as.numeric(z), as.integer(z), as.logical(z), as.vector(z), within(z, a <- 1),
      z$a <- 1, z[["a"]] <- 1, z["a"] <- 1, z[1, 1] <- 1, length(z) <- 1L, names(z) <- "a", dim(z) <- 1L,
      dimnames(z) <- NULL,
      levels(z) <- "a", row.names(z) <- NULL, is.na(z) <- 1
    )) {
      what <- if (inherits(z, "entasis_tree")) "the list is a file" else "the table is a file"
      expect_error(eval(call), what, class = "entasis_error_argument", info = deparse(call))
    }
    expect_error(max(1, z))
    expect_error(var(z))
    expect_error(if (z) 1)
    expect_error(letters[z])
  }
})

test_that("data.table and tibble take tables", {
  skip_if_not_installed("data.table")
  skip_if_not_installed("tibble")
  keyed <- data.table::data.table(a = c("x", "y", "y"), b = 1:3, key = c("a", "b"))
  found <- data.table::as.data.table(entasis(written(keyed)))
  expect_identical(data.table::key(found), c("a", "b"))
  expect_equal(found, keyed)
  data.table::set(found, j = "c", value = 1)
  expect_identical(names(found), c("a", "b", "c"))
  expect_same(function(z) data.table::as.data.table(z, keep.rownames = "car"), names = "named")
  expect_same(function(z) tibble::as_tibble(z))
  expect_same(function(z) tibble::as_tibble(z, rownames = "car"), names = "named")
})

test_that("a table or list of a file is written as what it is", {
  for (frame in lazy_frames()) {
    path <- written(frame)
    expect_identical(read_entasis(written(entasis(path))), read_entasis(path))
  }
  path <- written(list(a = iris, b = list(c = 1:3)))
  tree <- entasis(path)
  expect_identical(read_entasis(written(tree$a)), iris)
  expect_identical(read_entasis(written(tree$b)), list(c = 1:3))
  # In place of the file from which it was read.
  write_entasis(tree, path)
  expect_identical(read_entasis(path), list(a = iris, b = list(c = 1:3)))
  z <- entasis(written(many(1000)))
  write_entasis(z, z_path <- file_of(z)$path)
  expect_true(alike(read_entasis(z_path), many(1000)))
})

test_that("lists of files are walked as lists", {
  x <- list(a = 1:10, b = list(c = "x", 3), cars = mtcars, none = NULL)
  tree <- entasis(written(x))
  expect_identical(sapply(tree, length), sapply(x, length))
  expect_identical(lapply(tree, class), lapply(x, class))
  expect_identical(rev(tree), rev(x))
  expect_identical(head(tree, 2), head(x, 2))
  expect_identical(tail(tree, 1), tail(x, 1))
  expect_identical(unlist(tree["b"]), unlist(x["b"]))
  expect_identical(unlist(tree), unlist(x))
  expect_identical(is.na(tree), is.na(x))
  expect_identical(anyNA(tree), FALSE)
  expect_identical(summary(tree), summary(x))
  expect_true(all.equal(tree, x))
  a <- "not this"
  expect_identical(with(tree, mean(a) + nrow(cars)), with(x, mean(a) + nrow(cars)))
  expect_identical(
    as.data.frame(entasis(written(list(a = 1:2, b = c("x", "y"))))), data.frame(a = 1:2, b = c("x", "y"))
  )
})

test_that("a part of a saved list is not looked for in another file", {
  path <- written(list(a = list(b = 1:3), d = iris))
  tree <- entasis(path)
  saved <- lapply(list(tree, tree$a, tree$d), serialize, NULL)
  expect_identical(unserialize(saved[[2L]])$b, 1:3)
  expect_identical(dim(unserialize(saved[[3L]])), dim(iris))
  write_entasis(list(other = mtcars, a = list(0, b = 4:9)), path)
  for (part in saved) expect_error(unserialize(part)[], "has changed since", class = "entasis_error_argument")
  path <- written(iris)
  saved <- serialize(entasis(path), NULL)
  write_entasis(list(1), path)
  expect_error(dim(unserialize(saved)), "holds a list now", class = "entasis_error_argument")
})

printed <- function(x, ...) utils::capture.output(
  print(if (inherits(x, "entasis_table")) x else entasis(written(x)), ...)
)

test_that("a table is printed with types, first and last rows, in the width there is", {
  frame <- data.frame(
    i = 1:20, d = c(NA, 1.5), s = c("text", NA), f = factor(c("u", NA)), l = c(TRUE, NA), day = as.Date("2024-01-01"),
    t = as.POSIXct("2024-01-01", tz = "UTC")
  )
  lines <- printed(frame, width = 80)
  expect_match(lines[1L], "^<entasis file> ")
  expect_identical(lines[2L], "20 rows, 7 columns")
  expect_identical(strsplit(trimws(lines[3L]), " +")[[1L]], names(frame))
  expect_identical(
    strsplit(trimws(lines[4L]), " +")[[1L]], c("<int>", "<dbl>", "<chr>", "<fct>", "<lgl>", "<date>", "<dttm>")
  )
  expect_identical(sub(" .*", "", lines[5:15]), c(1:5, "--", 16:20))
  expect_identical(strsplit(lines[5L], " +")[[1L]][1:6], c("1", "1", "NA", "text", "u", "TRUE"))
  expect_identical(strsplit(lines[6L], " +")[[1L]][1:6], c("2", "2", "1.5", "<NA>", "<NA>", "NA"))
  expect_length(printed(frame, n = 20), 24L)
  expect_length(printed(frame, n = Inf), 24L)
  expect_match(printed(frame, n = 3)[8L], "^20 ")
  expect_identical(printed(frame, n = 0)[5L], "... and 20 more rows")
  expect_identical(printed(frame, n = 1, width = 80)[6L], "... and 19 more rows")
  for (n in list(-1, NA, "a", 1:2, NULL)) expect_error(
    printed(frame, n = n), "'n' must be", class = "entasis_error_argument"
  )
  expect_error(printed(frame, width = NA), "'width' must be", class = "entasis_error_argument")
  expect_match(printed(data.frame(x = pi), digits = 3)[5L], "3.14$")
  expect_match(printed(mtcars)[5L], "^Mazda RX4 ")
})

test_that("columns that have no room are named", {
  wide <- as.data.frame(matrix(runif(4000), 2L))
  for (width in c(20, 80, 200)) {
    lines <- printed(wide, width = width)
    expect_lt(length(lines), 30L)
    expect_lte(max(nchar(lines[-(1:2)])), width)
    shown <- length(strsplit(trimws(lines[3L]), " +")[[1L]])
    expect_match(
      paste(lines, collapse = " "),
      paste0("and ", format(2000 - shown, big.mark = ","), " +more +columns: +V", shown + 1, ", ")
    )
  }
  lines <- printed(data.frame(a = strrep("long", 1e5), b = 1), width = 30)
  expect_lt(max(nchar(lines[-1L])), 60)
  expect_match(lines[length(lines)], "1 more column: b")
  expect_identical(printed(data.frame())[2L], "0 rows, 0 columns")
  expect_identical(printed(data.frame(a = integer()))[4L], " <int>")
})

test_that("lists, frames and matrices in columns are printed", {
  frame <- data.frame(x = 1:12)
  frame$df <- data.frame(u = 1:12, v = letters[1:12])
  frame$m <- matrix(1:24, 12, dimnames = list(NULL, c("p", "q")))
  frame$l <- rep(list(1:100, NULL, iris, eval(quote(y ~ x), globalenv())), 3)
  frame$c <- rep("a\nb\033[31m", 12)
  lines <- printed(frame, width = 120)
  expect_identical(strsplit(trimws(lines[3L]), " +")[[1L]], c("x", "df$u", "df$v", "m[,\"p\"]", "m[,\"q\"]", "l", "c"))
  expect_match(lines[5L], "<int [100]>", fixed = TRUE)
  expect_match(lines[6L], "<NULL>")
  expect_match(lines[7L], "<data.frame [150 x 5]>", fixed = TRUE)
  expect_match(lines[8L], "<formula>")
  expect_match(lines[5L], "a\\nb\\033[31m", fixed = TRUE)
  skip_if_not_installed("tibble")
  expect_match(
    printed(tibble::tibble(x = list(tibble::tibble(a = 1:2, b = 1, c = 1))))[5L], "<tibble [2 x 3]>",
    fixed = TRUE
  )
})

test_that("str shows names and types, and the outline of a list classes and types", {
  expect_output(str(entasis(written(iris))), "Species     : fct")
  expect_output(str(entasis(written(as.data.frame(matrix(0, 1, 150))))), "and 51 more columns")
  x <- list(fit = eval(quote(lm(mpg ~ wt, mtcars)), globalenv()), f = factor("a"), d = as.Date("2024-01-01"), b = runif(1e6), i = 1:9, s = letters, l = rep(NA, 3),
            named = c(a = 1, b = 2), one = 1.5, cars = mtcars)
  lines <- utils::capture.output(print(entasis(written(x))))
  expect_identical(trimws(lines[-(1:2)]), c(
    "$fit: lm", "$f: factor", "$d: Date", "$b: dbl vector of 1,000,000", "$i: int vector of 9",
    "$s: chr vector of 26", "$l: lgl vector of 3",
    "$named: dbl with attributes", "$one: 1.5", "$cars: frame of 32 rows, 11 columns"
  ))
})
