test_that("atomic vectors are kept", {
  expect_kept(c(TRUE, FALSE, NA))
  expect_kept(c(1L, NA, -.Machine$integer.max))
  expect_kept(c(0, -0, 1.5, Inf, -Inf, NA, NaN))
  expect_kept(complex(real = c(1, NA, NaN), imaginary = c(NA, 2, -0)))
  expect_kept(as.raw(0:255))
  expect_kept(c("a", NA, "", "a string of more than twelve bytes"))
  for (empty in list(logical(), integer(), double(), complex(), raw(), character())) expect_kept(empty)
})

test_that("the payloads of NaN are kept", {
  arithmetic <- c(NA_real_ + 1, 2)
  expect_kept(arithmetic)
  expect_kept(c(NA_real_, NA_real_ + 1, NaN, -NaN))
  bits <- as.raw(c(0xef, 0xbe, 0xad, 0xde, 0, 0, 0xf8, 0x7f))
  payload <- c(readBin(bits, "double"), NA, 1)
  expect_identical(writeBin(round_trip(payload), raw()), writeBin(payload, raw()))
})

test_that("every compression keeps everything", {
  frame <- many(20000)
  for (compress in c(0, 10, 50, 80, 100)) expect_kept(frame, compress)
})

test_that("long vectors with few and many missing values are kept", {
  set.seed(1)
  n <- 150000
  for (share in c(0, 0.0001, 0.5, 1)) {
    gone <- runif(n) < share
    for (x in list(runif(n) < 0.5, sample.int(1000L, n, TRUE), round(runif(n), 2), sample(letters, n, TRUE))) {
      x[gone] <- NA
      expect_kept(x)
    }
    expect_kept(factor(ifelse(gone, NA, sample(month.name, n, TRUE))))
  }
})

test_that("encodings of strings are kept", {
  latin1 <- "caf\xe9"
  Encoding(latin1) <- "latin1"
  bytes <- "b\xff\xfe"
  Encoding(bytes) <- "bytes"
  unmarked <- "na\xc3\xafve"
  wrong <- "\xff\xe9"
  Encoding(wrong) <- "UTF-8"
  broken <- "\xff"
  x <- c(latin1, "\u00e9t\u00e9", "abc", NA, bytes, unmarked, wrong, broken, "", "\U1F600")
  expect_kept(x)
  expect_kept(rep(x, 3000))
  expect_kept(data.frame(x = x, y = rev(x)))
  expect_kept(factor(c("a", latin1), levels = c("a", latin1)))
  expect_kept(structure(1:2, names = c(latin1, "b")))
  expect_kept(matrix(x[1:4], 2))
})

test_that("factors are kept", {
  expect_kept(factor(c("b", "a", NA, "b"), levels = c("b", "a", "unused")))
  expect_kept(factor(c("lo", "hi"), levels = c("lo", "hi"), ordered = TRUE))
  expect_kept(addNA(factor(c("a", NA))))
  expect_kept(factor(character()))
  expect_kept(structure(c(2L, 1L), levels = c("x", "y"), class = c("extra", "factor"), label = "of mine"))
  expect_kept(factor(sample(sprintf("level %d", 1:40000)), levels = sprintf("level %d", 1:40000)))
  expect_kept(structure(factor("a"), levels = c(n = "a")))
  expect_kept(structure(1L, class = "factor"))
  expect_error(round_trip(data.frame(x = structure(3L, levels = "a", class = "factor"))),
               "column \"x\"", class = "entasis_error_unsupported")
})

test_that("dates and times are kept", {
  expect_kept(as.Date(c("2020-01-01", NA, "1960-05-05")))
  expect_kept(structure(c(1L, NA), class = "Date"))
  expect_kept(structure(c(1.5, NA, -0), class = "Date"))
  expect_kept(structure(c(NaN, Inf), class = "Date"))
  expect_kept(as.POSIXct(c(1.5e9, NA, -1e9) + 0.25, origin = "1970-01-01", tz = "Europe/Oslo"))
  expect_kept(as.POSIXct("2020-01-01", tz = ""))
  expect_kept(Sys.time() + 1:3)
  expect_kept(structure(c(1L, NA), class = c("POSIXct", "POSIXt")))
  expect_kept(structure(c(1, NA), class = c("POSIXct", "POSIXt"), tzone = c("EST5EDT", "EST", "EDT")))
  expect_kept(structure(c(1, NA), class = c("POSIXct", "POSIXt"), tzone = "no such zone"))
  expect_kept(structure(c(1 / 3, 1e300, NaN), class = c("POSIXct", "POSIXt")))
  for (units in c("secs", "mins", "hours", "days", "weeks")) {
    expect_kept(as.difftime(c(1.5, NA, -3.25, 1 / 3), units = units))
    expect_kept(as.difftime(c(2, NA, 0.5), units = units))
    expect_kept(structure(c(1L, NA), class = "difftime", units = units))
  }
  expect_kept(structure(1, class = "difftime", units = "fortnights"))
})

test_that("classes of other packages are kept", {
  skip_if_not_installed("bit64")
  expect_kept(bit64::as.integer64(c("1", NA, "-9223372036854775807")))
  skip_if_not_installed("nanotime")
  expect_kept(nanotime::nanotime(c(1e18, NA, 0)))
  expect_kept(data.frame(x = nanotime::nanotime(1:3)))
  skip_if_not_installed("hms")
  expect_kept(hms::hms(c(1, NA, 3600.5)))
  skip_if_not_installed("haven")
  expect_kept(haven::labelled(c(1, 2, NA), c(Male = 1, Female = 2), label = "sex"))
  expect_kept(haven::labelled(c("m", NA), c(Male = "m")))
  skip_if_not_installed("data.table")
  expect_kept(data.table::as.ITime(c("10:20:30", NA)))
  expect_kept(data.table::as.IDate(c("2020-01-01", NA)))
})

test_that("attributes are kept", {
  expect_kept(c(a = 1, b = 2))
  expect_kept(structure(1:3, class = "mine", note = list(a = 1, list(NULL, "x"), day = as.Date("2020-01-01"))))
  expect_kept(structure(1:3, long = rnorm(1000), z = 1i, r = as.raw(1), f = factor("a"), names = c("x", NA, "")))
  expect_kept(structure("a", frame = data.frame(x = 1:2, y = c("a", NA), row.names = c("p", "q"))))
  expect_kept(matrix(1:6, 2, dimnames = list(c("a", "b"), NULL)))
  expect_kept(array(rnorm(24), c(2, 3, 4)))
  expect_kept(Titanic)
  expect_kept(AirPassengers)
  expect_kept(structure(c(1, NA), double = c(NA, NaN, 1.5), logical = c(TRUE, NA), empty = character()))
})
