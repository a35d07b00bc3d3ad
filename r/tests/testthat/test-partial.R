test_that("groups are those of the rows and columns that are read", {
  skip_if_not_installed("dplyr")
  x <- dplyr::group_by(tibble::tibble(k = rep(c("a", "b"), each = 3), v = 1:6, w = 6:1), k)
  path <- written(x)
  expect_identical(dplyr::summarise(entasis(path)[6:1, ], total = sum(v))$total, c(6L, 15L))
  expect_identical(dplyr::summarise(head(entasis(path), 4), n = dplyr::n())$n, c(3L, 1L))
  expect_identical(entasis(path)[6:1, ], x[6:1, ])
  expect_identical(read_entasis(path, c("v", "k"), 3, 5), x[3:5, c("v", "k")])
  expect_identical(read_entasis(path, c("w", "k")), x[c("w", "k")])
  expect_message(v <- read_entasis(path, "v"), "grouped")
  expect_identical(v, x[, "v"])
  expect_identical(read_entasis(path), x)
  two <- dplyr::group_by(x, k, v)
  expect_identical(read_entasis(written(two), c("k", "w"), 2, 4), two[2:4, c("k", "w")])
  kept <- dplyr::group_by(tibble::tibble(k = factor(c("a", "b", "a"), c("a", "b", "c")), v = 1:3), k, .drop = FALSE)
  expect_identical(read_entasis(written(kept), from = 1, to = 1), kept[1, ])
  rows <- dplyr::rowwise(dplyr::ungroup(x), v)
  path <- written(rows)
  expect_identical(entasis(path)[c(4, 2), ], rows[c(4, 2), ])
  expect_identical(dplyr::mutate(read_entasis(path, from = 1, to = 2), n = dplyr::n())$n, c(1L, 1L))
  expect_identical(read_entasis(path, "w", 2, 3), rows[2:3, "w"])
})

test_that("S4 columns of lubridate and records have the parts of their rows", {
  skip_if_not_installed("lubridate")
  skip_if_not_installed("vctrs")
  days <- as.Date("2020-01-01") + 0:3
  x <- data.frame(id = 1:4, term = lubridate::days(c(10, 20, 30, 40)))
  x$span <- lubridate::interval(days, days + 4)
  path <- written(x)
  expect_identical(lubridate::day(read_entasis(path, from = 3, to = 3)$term), 30)
  expect_identical(entasis(path)[4:3, ]$term@day, c(40, 30))
  expect_identical(lubridate::int_start(entasis(path)[4:1, ]$span), lubridate::int_start(x$span[4:1]))
  expect_identical(tail(entasis(path), 2)$term, x$term[3:4])
  for (n in 1:5) {
    y <- tibble::tibble(
      id = seq_len(n), r = vctrs::new_rcrd(list(lo = seq_len(n), hi = 4 + seq_len(n))),
      term = lubridate::days(seq_len(n))
    )
    path <- written(y)
    expect_identical(read_entasis(path), y)
    expect_identical(read_entasis(path, from = n, to = n), y[n, ])
    expect_identical(entasis(path)[c(n, 1, n), ], y[c(n, 1, n), ])
    expect_identical(entasis(path)[integer(), ], y[integer(), ])
  }
})

test_that("what has an index or dimensions of its own is cut with it", {
  skip_if_not_installed("zoo")
  x <- data.frame(id = 1:5)
  x$z <- zoo::zoo(c(5, 3, 1, 2, 4), as.Date("2020-01-01") + 0:4)
  x$m <- zoo::as.yearmon(2000 + 0:4 / 12)
  path <- written(x)
  expect_identical(read_entasis(path, from = 2, to = 3), bare(x[2:3, ]))
  expect_identical(entasis(path)[c(1, 4), "z"], bare(x[c(1, 4), "z", drop = FALSE]))
  expect_identical(read_entasis(written(x$z), from = 2, to = 4), x$z[2:4])
  skip_if_not_installed("survival")
  x$s <- survival::Surv(c(5, 8, 3, 1, 2), c(1, 0, 1, 1, 0))
  path <- written(x)
  expect_identical(read_entasis(path, from = 2, to = 3), bare(x[2:3, ]))
  expect_identical(read_entasis(written(x$s), from = 2, to = 4), x$s[2:4])
})

test_that("vectors by themselves are cut by their class", {
  own_classes()
  on.exit(drop_classes())
  pair <- methods::new("entasis_paired", c(1, 2, 3), second = c(4, 5, 6))
  expect_identical(read_entasis(written(pair), from = 2, to = 3), pair[2:3])
  sliced <- structure(c(1, 2, 3), extra = 4:6, class = "entasis_sliced")
  expect_identical(read_entasis(written(sliced), from = 2), sliced[2:3])
  expect_identical(read_entasis(written(structure(1:3, extra = 4:6)), from = 2), 2:3)
  expect_identical(read_entasis(written(ts(c(1, 2, 3), 2000)), from = 2, to = 3), c(2, 3))
  skip_if_not_installed("lubridate")
  expect_identical(read_entasis(written(lubridate::days(1:4)), from = 2, to = 3), lubridate::days(2:3))
})

test_that("sf has the bounds of its rows, and is a data frame without its geometry", {
  skip_if_not_installed("sf")
  x <- sf::st_sf(
    name = letters[1:5], size = 1:5, geometry = sf::st_sfc(lapply(1:5, function(i) sf::st_point(c(i, 10 * i))))
  )
  path <- written(x)
  expect_identical(read_entasis(path, from = 2, to = 4), bare(x[2:4, ]))
  expect_identical(sf::st_bbox(entasis(path)[c(5, 2), ]), sf::st_bbox(x[c(5, 2), ]))
  expect_identical(read_entasis(path, c("size", "geometry"), 2, 4), bare(x[2:4, "size"]))
  expect_message(plain <- read_entasis(path, "name"), "geometry")
  expect_identical(plain, data.frame(name = letters[1:5]))
  expect_message(expect_identical(entasis(path)[2:3, 1:2], data.frame(name = c("b", "c"), size = 2:3)), "geometry")
})

test_that("without a method of their class rows are refused, or the class goes", {
  x <- data.frame(id = 1:3)
  x$c <- structure(c(1, 2, 3), extra = 4:6, class = "entasis_of_nobody")
  path <- written(x)
  expect_identical(read_entasis(path), x)
  expect_identical(read_entasis(path, "c"), x["c"])
  expect_identical(read_entasis(path, "id", 2, 3), bare(x[2:3, "id", drop = FALSE]))
  expect_error(
    read_entasis(path, from = 2), "column \"c\".*entasis_of_nobody.*read all rows",
    class = "entasis_error_unsupported"
  )
  expect_error(entasis(path)[2, ], class = "entasis_error_unsupported")
  expect_error(read_entasis(written(x$c), from = 2), class = "entasis_error_unsupported")
  own_classes()
  x$c <- methods::new("entasis_paired", c(1, 2, 3), second = c(4, 5, 6))
  path <- written(x)
  expect_identical(read_entasis(path, from = 2)$c, x$c[2:3])
  drop_classes()
  expect_error(read_entasis(path, from = 2), "entasis_paired.*library", class = "entasis_error_unsupported")
  frame <- structure(data.frame(a = 1:3), of_rows = 3:1, class = c("entasis_of_nobody", "data.frame"))
  expect_message(part <- read_entasis(written(frame), from = 2, to = 3), "entasis_of_nobody")
  expect_identical(part, data.frame(a = 2:3))
  frame <- structure(data.frame(a = 1:3, b = 4:6), note = "x", class = c("entasis_of_nobody", "data.frame"))
  expect_identical(read_entasis(written(frame), from = 2, to = 3), bare(frame[2:3, ]))
  expect_identical(read_entasis(written(frame), "b"), frame["b"])
})

test_that("a column alone and what is printed ask nothing of the frame's class", {
  x <- data.frame(id = 1:30)
  x$c <- structure(as.double(1:30), extra = 30:1, class = "entasis_of_nobody")
  x <- structure(x, of_rows = 30:1, class = c("entasis_of_nobody", "data.frame"))
  z <- entasis(written(x))
  expect_identical(z$c, x$c)
  expect_silent(expect_identical(z[3:2, "id", drop = TRUE], 3:2))
  expect_identical(z[c(3, NA), "id", drop = TRUE], c(3L, NA))
  expect_output(print(z), "30")
  expect_output(str(z), "id")
  expect_silent(row.names(z))
  skip_if_not_installed("dplyr")
  g <- dplyr::group_by(dplyr::tibble(k = 1:3, v = 4:6), k)
  z <- entasis(written(g))
  expect_silent(expect_identical(z$v, 4:6))
  expect_silent(expect_identical(row.names(z), as.character(1:3)))
})

test_that("missing rows are rows of NA", {
  x <- many(10)
  path <- written(x)
  mask <- c(TRUE, NA, FALSE, NA, TRUE, FALSE, FALSE, FALSE, NA, TRUE)
  expect_identical(entasis(path)[mask, ], x[mask, ])
  expect_identical(entasis(path)[c(3, NA, 3, NA), 2:4], x[c(3, NA, 3, NA), 2:4])
  expect_identical(entasis(path)[NA, ], x[NA, ])
  expect_identical(entasis(path)[NA_integer_, "a", drop = TRUE], NA_integer_)
  named <- written(mtcars)
  expect_identical(entasis(named)[c(2, NA, 2, 2), ], mtcars[c(2, NA, 2, 2), ])
  expect_identical(entasis(named)[c(2, 1, 2), ], mtcars[c(2, 1, 2), ])
  expect_error(entasis(path)[c(NA, 11), ], "at most 10, not 11", class = "entasis_error_argument")
  expect_error(entasis(path)[c(NA, -1), ], class = "entasis_error_argument")
  if (requireNamespace("tibble", quietly = TRUE)) {
    y <- tibble::as_tibble(x)
    expect_identical(entasis(written(y))[mask, ], y[mask, ])
  }
  if (requireNamespace("data.table", quietly = TRUE)) {
    y <- data.table::as.data.table(x)
    expect_part(written(y), y, NULL, mask, "data.table, mask")
    expect_part(written(y), y, NULL, c(3L, NA, 1L), "data.table, rows")
  }
})

test_that("arrays of one dimension keep it, those of three are cut along the first", {
  x <- data.frame(id = 1:4)
  x$one <- array(c(5, 6, 7, 8), 4L, list(k = letters[1:4]))
  x$bare <- array(1:4, 4L)
  path <- written(x)
  for (rows in list(c(NA, 3L, 3L), c(NA, NA, 1L), c(FALSE, NA, FALSE, FALSE), c(4L, 4L, NA), c(NA_integer_, NA), 2L, c(2L, 2L))) {
    expect_part(path, x, NULL, rows, "arrays of one dimension")
  }
  cube <- array(1:16, c(4, 2, 2))
  x$cube <- cube
  x$inner <- data.frame(id = 4:1)
  x$inner$cube <- cube
  x$inner$by <- structure(1:4, extra = 4:1)
  for (frame in list(x, x[c("id", "cube")], structure(x, class = c("entasis_of_nobody", "data.frame")))) {
    path <- written(frame)
    for (rows in list(2:3, c(4L, 4L, 1L), c(NA, 2L), c(2L, NA, 2L), c(TRUE, NA, FALSE, NA), NA, integer())) {
      numbers <- if (is.logical(rows)) seq_len(4)[rows] else rows
      part <- entasis(path)[rows, ]
      expect_identical(part$cube, cube[numbers, , , drop = FALSE])
      if (!is.null(frame$inner)) expect_identical(part$inner$cube, cube[numbers, , , drop = FALSE])
    }
  }
})

test_that("row names of frames in frames begin anew where they are numbers, whoever cuts the frame", {
  own_classes()
  on.exit(drop_classes())
  inner <- data.frame(a = 1:5)
  inner$deep <- data.frame(b = 5:1)
  inner$named <- data.frame(b = 5:1, row.names = letters[1:5])
  x <- data.frame(id = 1:5)
  x$inner <- inner
  weighted <- structure(x, weights = 5:1 / 2, class = c("entasis_weighted", "data.frame"))
  for (frame in list(x, weighted)) {
    path <- written(frame)
    for (rows in list(4L, 2:3, c(5L, 5L, 1L))) {
      part <- entasis(path)[rows, ]
      expect_identical(row.names(part$inner), as.character(seq_along(rows)))
      expect_identical(row.names(part$inner$deep), as.character(seq_along(rows)))
      expect_identical(row.names(part$inner$named), row.names(inner$named[rows, , drop = FALSE]))
      expect_identical(part$inner$deep$b, (5:1)[rows])
    }
  }
})

test_that("what a class's own `[` makes is checked", {
  wrong <- list(
    function(x, i, ...) stop("no"), function(x, i, ...) NULL, function(x, i, ...) unclass(x)[i][-1],
    function(x, i, ...) unclass(x),
    function(x, i, ...) as.character(unclass(x)[i]), function(x, i, ...) as.list(unclass(x)[i]),
    function(x, i, ...) sum,
    function(x, i, ...) data.frame(a = unclass(x)[i]), function(x, i, ...) x[i], function(x, i, ...) quote(a),
    function(x, i, ...) globalenv(), function(x, i, ...) structure(unclass(x)[i][-1], class = "entasis_wrong")
  )
  x <- data.frame(id = 1:4)
  x$w <- structure(c(1, 2, 3, 4), extra = 4:1, class = "entasis_wrong")
  nested <- data.frame(id = 1:4)
  nested$inner <- x
  table <- tibble_of(x)
  paths <- vapply(list(x, x$w, nested, table), written, "")
  # `length` of a class is not asked.
  registerS3method("length", "entasis_wrong", function(x) 2L)
  on.exit(registerS3method("length", "entasis_wrong", function(x) length(unclass(x))))
  for (k in seq_along(wrong)) {
    registerS3method("[", "entasis_wrong", wrong[[k]])
    for (path in paths) {
      expect_error(read_entasis(path, from = 2, to = 3), "\\[", class = "entasis_error_unsupported", info = k)
      for (rows in if (path != paths[2L]) list(c(4, 1, 4), c(4, NA), c(TRUE, FALSE, NA, NA))) {
        expect_error(entasis(path)[rows, ], class = "entasis_error_unsupported", info = k)
      }
    }
    expect_identical(read_entasis(paths[1L]), x)
    expect_identical(read_entasis(paths[1L], "id", 2, 3), data.frame(id = 2:3))
  }
  frame <- structure(data.frame(a = 1:4, b = 4:1), of_rows = 4:1, class = c("entasis_wrong_frame", "data.frame"))
  path <- written(frame)
  cut <- function(x, i, j) as.data.frame(unclass(x))[if (missing(i)) 1:4 else i, if (missing(j)) 1:2 else j, drop = FALSE]
  wrong <- list(
    function(x, i, j, ...) stop("no"), function(x, i, j, ...) NULL,
    function(x, i, j, ...) cut(x, i, j)[-1, , drop = FALSE],
    function(x, i, j, ...) unclass(cut(x, i, j)), function(x, i, j, ...) cut(x, i, j)[0],
    function(x, i, j, ...) as.matrix(cut(x, i, j)),
    function(x, i, j, ...) structure(list(a = 1L, b = 2:3), class = "data.frame", row.names = 1:2),
    function(x, i, j, ...) structure(list(1:2, 2:3), class = "data.frame", row.names = 1:2)
  )
  for (k in seq_along(wrong)) {
    registerS3method("[", "entasis_wrong_frame", wrong[[k]])
    expect_error(
      read_entasis(path, from = 2, to = 3), "entasis_wrong_frame", class = "entasis_error_unsupported", info = k
    )
    for (rows in list(c(4, 1), c(4, NA))) expect_error(
      entasis(path)[rows, ], class = "entasis_error_unsupported", info = k
    )
    expect_identical(read_entasis(path), frame)
  }
})

test_that("labels of rows of other hosts become row names or columns for every selection alike", {
  path <- tempfile()
  frames <- c(twice = "['a', 'b', 'a', 'c']", distinct = "['a', 'b', 'd', 'c']", numbers = "[5, 3, 9, 1]", again = "[5, 3, 5, 1]",
              missing = "['a', None, 'b', 'c']", rising = "[2, 3, 5, 7]", dates = "pd.to_datetime(['2020-01-01'] * 4)")
  python(sprintf(
    "en.write(pd.DataFrame({'x': [1, 2, 3, 4]}, index=pd.Index(%s, name='key')), r'%s%s')", frames, path,
    names(frames)
  ))
  for (name in names(frames)) {
    file <- paste0(path, name)
    whole <- read_entasis(file)
    expect_identical("key" %in% names(whole), !name %in% c("distinct", "numbers", "rising"), info = name)
    for (rows in list(1:2, 3:4, 2L, 1L, c(4L, 2L), c(1L, 1L, 3L), c(TRUE, FALSE, FALSE, TRUE), integer(), 1:4)) {
      expected <- whole[rows, , drop = FALSE]
      if ("key" %in% names(whole)) expected <- bare(expected)
      expect_identical(entasis(file)[rows, ], expected, info = name)
      table <- entasis(file)
      table$x
      expect_identical(table[rows, "x"], expected["x"], info = name)
      if (is.integer(rows) && length(rows) > 0L && all(diff(rows) == 1L)) {
        expect_identical(read_entasis(file, from = rows[1L], to = rows[length(rows)]), expected, info = name)
      }
    }
  }
})

test_that("columns chosen twice have the names that R gives them", {
  path <- written(iris)
  expect_identical(read_entasis(path, c(1, 1, 5), 2, 4), bare(iris[2:4, c(1, 1, 5)]))
  expect_identical(entasis(path)[c(5, 5)], iris[c(5, 5)])
})

test_that("parts of frames with all kinds of attributes are those of R", {
  own_classes()
  on.exit(drop_classes())
  set.seed(if (is_long) NULL else 5)
  for (k in seq_len(by_tier(25L, 120L, 2500L))) {
    n <- sample(c(1:4, 7L, 40L), 1L)
    x <- any_frame(n, sample(4L, 1L))
    path <- written(x)
    for (trial in 1:4) {
      rows <- if (trial > 1L) any_rows(n)
      columns <- if (trial != 2L && length(x) > 1L) sample(names(x), sample(length(x) - 1L, 1L))
      expect_part(
        path, x, columns, rows,
        paste0("frame ", k, " of ", paste(vapply(x, function(c) class(c)[1L], ""), collapse = ", "))
      )
    }
    unlink(path)
  }
})

test_that("parts of grouped frames and tables are those of dplyr and data.table", {
  set.seed(if (is_long) NULL else 6)
  for (k in seq_len(by_tier(6L, 20L, 300L))) {
    n <- sample(2:20, 1L)
    x <- data.frame(k = sample(3L, n, TRUE), g = sample(c("u", "v", NA), n, TRUE), v = rnorm(n), i = seq_len(n))
    frames <- list()
    if (requireNamespace("dplyr", quietly = TRUE)) {
      frames <- list(
        dplyr::group_by(dplyr::as_tibble(x), k, g), dplyr::rowwise(dplyr::as_tibble(x), i), dplyr::as_tibble(x)
      )
    }
    if (requireNamespace("data.table", quietly = TRUE)) {
      frames <- c(frames, list(data.table::as.data.table(x, key = c("k", "g"))))
    }
    for (x in frames) {
      path <- written(x)
      for (trial in 1:4) {
        rows <- if (trial > 1L) any_rows(n, !inherits(x, "grouped_df"))
        expect_part(path, x, if (trial != 2L) sample(names(x), sample(3L, 1L)), rows, class(x)[1L])
      }
    }
  }
})

# Whole and partial reads of a data set; whether it could be written.
expect_data_set <- function(x, what) {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  failed <- tryCatch({
    write_entasis(x, path)
    NULL
  }, error = function(e) e)
  if (!is.null(failed)) {
    expect_s3_class(failed, "entasis_error_unsupported")
    return(FALSE)
  }
  # The methods that the reader loads.
  if (inherits(x, "spec_tbl_df")) requireNamespace("readr", quietly = TRUE)
  # An environment is identical to itself alone.
  content <- function(x) if (is.environment(x)) as.list(x, all.names = TRUE, sorted = TRUE) else x
  if (!identical(content(read_entasis(path)), content(x))) fail(paste(what, "is another one when it is read")) else succeed()
  n <- if (is.data.frame(x)) nrow(x) else length(x)
  if (is.data.frame(x) && n > 3L) {
    columns <- names(x)[unique(c(length(x), 1L))]
    if (length(columns) == length(x)) columns <- NULL
    part <- function(columns, rows) tryCatch(
      expect_part(path, x, columns, rows, what), entasis_error_unsupported = function(e) succeed()
    )
    part(NULL, 2:3)
    part(columns, c(n, 1L, 1L))
    part(columns, NULL)
  } else if (is.atomic(x) && is.null(dim(x)) && n > 3L) {
    expect_identical(read_entasis(path, from = 2, to = 3), x[2:3], label = what)
  }
  TRUE
}

data_sets <- function(packages) {
  found <- suppressWarnings(utils::data(package = packages))$results
  items <- sub("^.*\\((.*)\\)$", "\\1", found[, "Item"])
  objects <- sub(" .*", "", found[, "Item"])
  unique(data.frame(package = found[, "Package"], object = objects, file = items))
}

test_that("data sets are whole and in parts what they are in memory", {
  sets <- data_sets(if (is_long) .packages(TRUE) else "datasets")
  if (!is_long) sets <- utils::head(sets, by_tier(25L, 60L))
  refused <- 0L
  for (k in seq_len(nrow(sets))) {
    where <- new.env()
    loaded <- tryCatch(
      suppressWarnings(utils::data(list = sets$file[k], package = sets$package[k], envir = where)),
      error = function(e) NULL
    )
    if (!is.null(loaded) && exists(sets$object[k], where, inherits = FALSE)) {
      refused <- refused + !expect_data_set(get(sets$object[k], where), paste0(sets$package[k], "::", sets$object[k]))
    }
  }
  if (is_long) message(nrow(sets), " data sets, ", refused, " can't be stored") else expect_identical(refused, 0L)
})

test_that("parts of tibbles have no row names, and what vctrs makes of their columns", {
  skip_if_not_installed("tibble")
  named <- mtcars[1:3, 1:2]
  class(named) <- c("tbl_df", "tbl", "data.frame")
  z <- entasis(written(named))
  expect_identical(z[], named)
  for (expression in expression(x[2:3, ], x[1:3, ], x[TRUE, ], x[1], x[, 2], head(x, 2), head(x, 9), subset(x, mpg > 21), subset(x, TRUE), x[c(1, NA), ])) {
    expect_identical(eval(expression, list(x = z)), eval(expression, list(x = named)), label = deparse(expression))
  }
  columns <- list(
    structure(19000:19002, class = "Date"), structure(c(1L, NA, 3L), class = c("POSIXct", "POSIXt"), tzone = "UTC"),
    as.POSIXct(c(NA, 0, 1), origin = "1970-01-01"), structure(1:3, units = "hours", class = "difftime")
  )
  if (requireNamespace("data.table", quietly = TRUE)) {
    columns <- c(columns, list(data.table::as.IDate("2024-01-01") + 0:2))
  }
  if (requireNamespace("lubridate", quietly = TRUE)) columns <- c(columns, list(lubridate::dseconds(1:3)))
  for (column in columns) {
    tibble <- tibble::tibble(d = column, v = 1:3)
    z <- entasis(written(tibble))
    for (expression in expression(head(x, 2), x[2:3, ], x[c(3, 1), "d"], x[c(1, NA), ], subset(x, v > 1), x[x$v > 1, ], x[1:3, ], x[])) {
      expect_identical(
        eval(expression, list(x = z)), eval(expression, list(x = tibble)),
        label = paste(class(column)[1L], deparse(expression))
      )
    }
    # Reading from the first row is a part of the file too.
    expect_identical(read_entasis(written(tibble), to = 2), tibble[1:2, ])
    if (requireNamespace("dplyr", quietly = TRUE)) {
      expect_identical(dplyr::collect(dplyr::filter(z, v > 1)), dplyr::filter(tibble, v > 1))
    }
  }
})

test_that("attributes of columns go when all rows are selected, as in memory", {
  frame <- data.frame(x = structure(c(1, 2), label = "a label"), g = 1:2)
  z <- entasis(written(frame))
  for (expression in expression(subset(x, TRUE), x[1:2, ], x[TRUE, ], x[x$x > 0, ], x["x"], x[], subset(x, select = x), x[1:2, "x", drop = TRUE])) {
    expect_identical(eval(expression, list(x = z)), eval(expression, list(x = frame)), label = deparse(expression))
  }
})
