# sniff_csv_entasis(), and specs.

test_that("a spec prints as the call that repeats it, with the reasons", {
  lines <- c("city;zip;price;n;day", "Oslo;0150;3,5;1;2020-01-01", "Rome;;4;3000000000;", "Bern;3000;1,25;2;2021-01-01")
  spec <- sniff_csv_entasis(text = lines)
  shown <- format(spec)
  expect_match(shown[1L], "read_csv_entasis(file,", fixed = TRUE)
  expect_match(shown, "sep = \";\", +# 100 % of the rows have 5 fields", all = FALSE)
  expect_match(shown, "dec = \",\", +# numbers", all = FALSE)
  expect_output(
    print(spec), "colClasses = c(city = \"character\", zip = \"character\", price = \"double\"", fixed = TRUE
  )
  call <- str2lang(paste(sub("#.*", "", shown), collapse = "\n"))
  path <- tempfile()
  writeLines(lines, path)
  call[[2L]] <- path
  expect_identical(eval(call), read_csv_entasis(path))
  expect_identical(names(spec$reasons), c("part", "value", "reason", "confidence"))
  expect_identical(spec$parts$types, c("string", "string", "float64", "int64", "date"))
})

test_that("a reader takes a spec, its JSON, or a file with it, and arguments go over it", {
  spec <- sniff_csv_entasis(text = c("a;b", "1,5;007", "2;x"))
  lines <- c("a;b", "1;1", "3;2")
  expected <- data.frame(a = c(1, 3), b = c("1", "2"))
  expect_identical(read_csv_entasis(text = lines, spec = spec), expected)
  expect_identical(read_csv_entasis(text = lines, spec = spec$json), expected)
  path <- tempfile()
  writeLines(spec$json, path)
  expect_identical(read_csv_entasis(text = lines, spec = path), expected)
  expect_identical(read_csv_entasis(text = lines, spec = spec, colClasses = c(b = "integer"))$b, 1:2)
  expect_error(read_csv_entasis(text = c("a;b", "x;1"), spec = spec), "column 'a': 'x', expected float64")
  expect_error(read_csv_entasis(text = c("a;z", "1;1"), spec = spec), "the spec says 'b'")
  expect_error(read_csv_entasis(text = lines, spec = "{}}"), class = "entasis_error_argument")
  expect_error(read_csv_entasis(text = lines, spec = "no such file"), "there is no file")
  # Types and words of Python.
  spec <- "{\"names\": [\"a\", \"b\", \"c\"], \"types\": [\"int8\", \"uint32\", \"datetime[ms]\"], \"missing\": [\"-\"], \"missing_in_text\": true}"
  x <- read_csv_entasis(text = c("a,b,c", "1,4000000000,2020-01-01T00:00:00.25", "-,2,"), spec = spec)
  expect_identical(x$a, c(1L, NA))
  expect_identical(as.double(x$c), c(1577836800.25, NA))
})

test_that("types hold for the first rows, or for all", {
  lines <- c("a,b", rep("1,x", 10000), "y,x")
  expect_identical(sniff_csv_entasis(text = lines)$parts$types, c("int32", "string"))
  expect_identical(sniff_csv_entasis(text = lines, rows = "all")$parts$types, c("string", "string"))
})

test_that("hard names survive the JSON of a spec", {
  x <- data.frame(1:2, 3:4)
  names(x) <- c("say \"hi\"\\\n", "Z\u00fcrich")
  path <- tempfile()
  spec <- write_csv_entasis(x, path)
  expect_identical(read_csv_entasis(path, spec = spec), x)
  expect_identical(read_csv_entasis(path, spec = sniff_csv_entasis(path)), x)
})
