# Restarts row names that are numbers at 1, as reading does, also in frames in frames.
renumbered <- function(x, of, columns = NULL) {
  if (!is.data.frame(x)) {
    return(x)
  }
  if (is.na(.row_names_info(of, 0L)[1L]) && is.integer(.row_names_info(of, 0L)) || nrow(of) == 0L) {
    attr(x, "row.names") <- .set_row_names(.row_names_info(x, 2L))
  }
  kept <- attributes(x)
  columns <- Map(renumbered, unclass(x), if (is.null(columns)) unclass(of) else unclass(of)[columns])
  attributes(columns) <- kept
  columns
}

# The selection of R itself; NULL for `columns` or `rows` means all.
selected <- function(x, columns, rows) {
  if (inherits(x, "data.table")) {
    as_table <- data.table::copy(x)
    if (!is.null(columns)) {
      as_table <- eval(
        quote(as_table[, columns, with = FALSE]), list(as_table = as_table, columns = columns), table_caller
      )
    }
    if (!is.null(rows)) as_table <- eval(quote(as_table[rows]), list(as_table = as_table, rows = rows), table_caller)
    return(as_table)
  }
  if (is.null(columns) && is.null(rows)) x else
    if (is.null(rows)) x[, columns, drop = FALSE] else
      if (is.null(columns)) x[rows, , drop = FALSE] else x[rows, columns, drop = FALSE]
}

# Where data.table's own `[` is that of data.table.
table_caller <- local({
  e <- new.env(parent = globalenv())
  e$.datatable.aware <- TRUE
  e
})

# The selection of an open table.
part_of_table <- function(z, columns, rows) {
  if (is.null(columns)) {
    return(if (is.null(rows)) z[] else z[rows, ])
  }
  if (inherits(z, "entasis_data_table")) {
    selection <- if (is.null(rows)) quote(z[, columns, with = FALSE]) else quote(z[rows, columns, with = FALSE])
    return(eval(selection, list(z = z, columns = columns, rows = rows), table_caller))
  }
  if (is.null(rows)) z[, columns] else z[rows, columns]
}

# Removes what may differ between reading and R: row names that are numbers, the address of
# data.table.
comparable <- function(value, of) {
  # The method of nlme makes a new function with a new environment whenever it leaves rows out.
  if (is.function(attr(value, "FUN"))) environment(attr(value, "FUN")) <- globalenv()
  if (inherits(value, "data.table")) {
    attr(value, ".internal.selfref") <- NULL
    attr(value, "index") <- NULL
    return(value)
  }
  value
}

# Whether a selection is all rows in order. read_entasis() from the first to the last row reads the
# whole frame, whose columns keep their attributes.
are_all <- function(rows, n) identical(
  as.numeric(if (is.logical(rows)) which(rep_len(rows, n)) else rows), as.numeric(seq_len(n))
) && !anyNA(rows)

# Whether each column has a value for each row: the `[` of zoo loses rows where a mask has NA.
is_sound <- function(x) {
  !is.data.frame(x) || all(vapply(unclass(x), function(column) NROW(column) == .row_names_info(x, 2L) && is_sound(column), NA))
}

# Checks that parts of a file equal parts of the value. `where` is for the message.
expect_part <- function(path, x, columns, rows, where, by = "") {
  is_range <- !is.null(rows) && is.numeric(rows) && length(rows) > 0L && !anyNA(rows) && all(diff(rows) == 1)
  # zoo warns of rows that are chosen twice.
  expect <- function(rows) {
    expected <- suppressWarnings(comparable(selected(x, columns, rows), x))
    if (!is.null(rows) && !anyNA(rows)) renumbered(expected, x, columns) else expected
  }
  of_table <- expect(rows)
  reads <- list(table = function() part_of_table(entasis(path), columns, rows))
  if (is_range) reads$range <- function() read_entasis(path, columns, rows[1L], rows[length(rows)])
  if (!is_sound(of_table)) {
    for (read in reads) expect_error(suppressWarnings(read()), class = "entasis_error_unsupported", info = where)
    return(invisible())
  }
  for (name in names(reads)) {
    expected <- if (name == "range" && are_all(rows, nrow(x))) expect(NULL) else of_table
    found <- comparable(suppressWarnings(suppressMessages(reads[[name]]())), x)
    if (!identical(found, expected)) {
      fail(paste0(where, " (", name, "): ", paste(utils::head(all.equal(found, expected), 5L), collapse = "; "), "\nrows ",
                  paste(deparse(rows), collapse = ""), " columns ", paste(deparse(columns), collapse = "")))
    } else {
      succeed()
    }
  }
}

# Classes with an attribute or slot for each value: S3 with and without a method, S4, and a frame.
own_classes <- function() {
  registerS3method("[", "entasis_sliced", function(x, i, ...) {
    structure(unclass(x)[i], extra = attr(x, "extra")[i], class = class(x))
  })
  registerS3method("[", "entasis_weighted", function(x, i, j, ..., drop = FALSE) {
    y <- NextMethod()
    attr(y, "weights") <- if (missing(i)) attr(x, "weights") else attr(x, "weights")[i]
    y
  })
  if (!methods::isClass("entasis_paired")) {
    methods::setClass("entasis_paired", contains = "numeric", slots = c(second = "numeric"), where = globalenv())
    methods::setMethod("[", "entasis_paired", function(x, i, j, ..., drop = TRUE) {
      methods::new("entasis_paired", x@.Data[i], second = x@second[i])
    }, where = globalenv())
  }
}

# A tibble if the package is installed, else the frame.
tibble_of <- function(x) if (requireNamespace("tibble", quietly = TRUE)) tibble::new_tibble(unclass(x), nrow = nrow(x)) else x

drop_classes <- function() {
  methods::removeMethod("[", "entasis_paired", where = globalenv())
  methods::removeClass("entasis_paired", where = globalenv())
}

# A random column of `n` values.
any_column <- function(n, deep = TRUE) {
  plain <- list(
    function() sample(1000L, n, TRUE), function() round(rnorm(n), 2), function() sample(c("a", "b", NA), n, TRUE),
    function() factor(sample(letters, n, TRUE)), function() as.Date("2020-01-01") + seq_len(n),
    function() as.POSIXct("2020-01-01", tz = "UTC") + seq_len(n), function() sample(c(TRUE, NA), n, TRUE)
  )
  dependent <- list(
    function() structure(rnorm(n), names = sample(c("x", "y", "z"), n, TRUE)),
    function() structure(seq_len(n), extra = seq_len(n)),
    function() structure(rnorm(n), label = "what it is"),
    function() structure(rnorm(n), extra = seq_len(n) + 0, class = "entasis_sliced"),
    function() structure(rnorm(n), units = "m", class = "entasis_plain"),
    function() methods::new("entasis_paired", rnorm(n), second = seq_len(n) + 0),
    function() structure(as.Date("2020-01-01") + seq_len(n), extra = seq_len(n)),
    function() structure(factor(sample(letters, n, TRUE)), contrasts = seq_len(n)),
    function() as.POSIXlt(as.POSIXct("2020-01-01", tz = "UTC") + 3600 * seq_len(n)),
    function() as.difftime(seq_len(n) + 0.5, units = "hours"),
    function() ts(rnorm(n), start = 2000, frequency = 12),
    function() I(lapply(seq_len(n), function(i) seq_len(i %% 3))),
    function() matrix(rnorm(2 * n), n),
    function() matrix(seq_len(2 * n), n, dimnames = list(make.unique(sample(letters, n, TRUE)), c("p", "q"))),
    function() structure(matrix(rnorm(2 * n), n), extra = seq_len(n)),
    function() array(seq_len(n), n, list(k = paste0("r", seq_len(n)))),
    function() array(rnorm(n), n),
    function() table(factor(seq_len(n))),
    function() lapply(seq_len(n), function(i) letters[seq_len(i %% 4)]),
    function() numeric_version(paste0("1.", seq_len(n)))
  )
  if (requireNamespace("vctrs", quietly = TRUE)) {
    dependent <- c(dependent, list(
      function() vctrs::new_rcrd(list(lo = seq_len(n), hi = seq_len(n) + 0.5)),
      function() vctrs::new_rcrd(
        list(lo = seq_len(n), hi = letters[seq_len(n) %% 26 + 1]), extra = "x", class = "bounds"
      ),
      function() vctrs::new_list_of(lapply(seq_len(n), function(i) rnorm(i %% 3)), ptype = double()),
      function() vctrs::new_vctr(rnorm(n), class = "entasis_vctr", unit = "m")
    ))
  }
  if (requireNamespace("lubridate", quietly = TRUE)) {
    dependent <- c(dependent, list(
      function() lubridate::days(seq_len(n)), function() lubridate::period(hour = seq_len(n), minute = 1),
      function() lubridate::interval(as.Date("2020-01-01") + seq_len(n), as.Date("2021-01-01") + seq_len(n)),
      function() lubridate::dhours(seq_len(n))
    ))
  }
  if (requireNamespace("zoo", quietly = TRUE)) {
    dependent <- c(dependent, list(
      function() zoo::zoo(rnorm(n), as.Date("2020-01-01") + seq_len(n)),
      function() zoo::as.yearmon(2000 + seq_len(n) / 12)
    ))
  }
  if (requireNamespace("survival", quietly = TRUE)) {
    dependent <- c(dependent, function() survival::Surv(seq_len(n), sample(0:1, n, TRUE)))
  }
  if (requireNamespace("haven", quietly = TRUE)) {
    dependent <- c(dependent, function() haven::labelled(sample(3L, n, TRUE), c(a = 1L, b = 2L, c = 3L)))
  }
  if (deep) {
    dependent <- c(dependent, list(
      function() any_frame(n, sample(3L, 1L), runif(1L) < 0.3), function() any_frame(n, 1L, FALSE)
    ))
  }
  made <- if (runif(1L) < 0.3) plain else dependent
  made[[sample(length(made), 1L)]]()
}

# A random frame of `k` columns.
any_frame <- function(n, k, deep = TRUE) {
  columns <- lapply(seq_len(k), function(i) any_column(n, deep))
  names(columns) <- paste0("c", seq_len(k))
  frame <- structure(columns, class = "data.frame", row.names = .set_row_names(n))
  if (runif(1L) < 0.2) attr(frame, "row.names") <- sample(1000L, n)
  if (runif(1L) < 0.2) attr(frame, "row.names") <- make.unique(sample(letters, n, TRUE))
  if (runif(1L) < 0.2) attr(frame, "note") <- seq_len(sample(c(1L, n), 1L))
  if (runif(1L) < 0.15 && requireNamespace("tibble", quietly = TRUE)) {
    attr(frame, "row.names") <- .set_row_names(n)
    class(frame) <- c("tbl_df", "tbl", "data.frame")
  } else if (deep && runif(1L) < 0.1) {
    attr(frame, "weights") <- rnorm(n)
    class(frame) <- c("entasis_weighted", "data.frame")
  }
  frame
}

# Rows to select of `n`: ranges, numbers in any order, masks.
any_rows <- function(n, missing = TRUE) {
  switch(sample(6L, 1L),
    { from <- sample(n, 1L); from:min(n, from + sample(0:4, 1L)) },
    sample(n, sample(2L * n, 1L), TRUE),
    seq_len(n)[sample(c(TRUE, FALSE), n, TRUE)],
    integer(),
    if (missing) sample(c(NA, seq_len(n)), n, TRUE) else sample(n),
    if (missing) sample(c(NA, TRUE, FALSE), n, TRUE) else sample(c(TRUE, FALSE), n, TRUE)
  )
}
