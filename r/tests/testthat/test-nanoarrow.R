# Files as streams of Arrow arrays.

test_that("a file is a stream of its rows", {
  skip_if_not_installed("nanoarrow")
  frame <- many(3000)
  frame$when <- as.difftime(frame$a, units = "secs")
  for (rows in list(seq_len(3000), 1:3, integer())) {
    part <- frame[rows, ]
    x <- entasis(written(part))
    expected <- nanoarrow::as_nanoarrow_array_stream(part)
    stream <- nanoarrow::as_nanoarrow_array_stream(x)
    expect_identical(nanoarrow::convert_array_stream(stream), nanoarrow::convert_array_stream(expected))
  }
})

test_that("a long file gives several arrays", {
  skip_if_not_installed("nanoarrow")
  frame <- data.frame(n = seq_len(2^20 + 5), f = factor(rep_len(letters, 2^20 + 5)))
  stream <- nanoarrow::as_nanoarrow_array_stream(entasis(written(frame)))
  arrays <- nanoarrow::collect_array_stream(stream)
  expect_identical(vapply(arrays, function(array) array$length, 0), c(2^20, 5))
  expect_identical(nanoarrow::convert_array(arrays[[2L]])$n, utils::tail(frame$n, 5L))
})

test_that("a query is a stream of the rows that are left", {
  skip_if_not_installed("nanoarrow")
  skip_if_not_installed("dplyr")
  frame <- many(1000)
  query <- dplyr::filter(entasis(written(frame)), c == "b", b > 0.5)
  expected <- nanoarrow::as_nanoarrow_array_stream(dplyr::filter(frame, c == "b", b > 0.5))
  expect_identical(
    nanoarrow::convert_array_stream(nanoarrow::as_nanoarrow_array_stream(query)),
    nanoarrow::convert_array_stream(expected)
  )
})
