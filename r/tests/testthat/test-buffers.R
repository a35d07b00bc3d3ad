x <- serialize(mtcars[rep(1:32, 200), ], NULL)

test_that("the arguments of fst's functions work", {
  for (compressor in c("LZ4", "ZSTD")) {
    for (compression in c(0, 50, 100)) {
      packed <- compress_entasis(x, compressor, compression)
      expect_lt(length(packed), length(x) / 2)
      expect_identical(decompress_entasis(packed), x)
    }
  }
  expect_lt(length(compress_entasis(x, "ZSTD", 100)), length(compress_entasis(x, "ZSTD", 0)))
  expect_identical(compress_entasis(x, "ZSTD", 100, hash = TRUE), compress_entasis(x, "ZSTD", level = 22))
  expect_identical(compress_entasis(x), compress_entasis(x, "LZ4", 80))
  expect_identical(hash_entasis(x, NULL), hash_entasis(x))
  expect_identical(hash_entasis(x, seed = 0, block_hash = FALSE), hash_entasis(x))
  expect_false(identical(hash_entasis(x, 1), hash_entasis(x)))
})

test_that("wrong arguments of buffers are refused", {
  refused <- function(expr, message) expect_error(expr, message, class = "entasis_error_argument")
  refused(compress_entasis(1:3), "'x' must be a raw vector, not an integer vector of length 3; serialize")
  refused(compress_entasis(x, "gzip"), "'compressor' must be \"LZ4\" or \"ZSTD\", not \"gzip\"")
  refused(compress_entasis(x, "ZSTD", 101), "'compression' must be a number from 0 to 100, not 101")
  refused(compress_entasis(x, "ZSTD", level = 0), "'level' must be")
  refused(compress_entasis(x, "LZ4", level = 3), "'level' is for ZSTD")
  refused(compress_entasis(x, hash = "yes"), "'hash' must be TRUE or FALSE, not \"yes\"")
  refused(hash_entasis(x, 1.5), "'seed' must be a whole number from 0, not 1.5")
  refused(decompress_entasis(x, max_len = -1), "'max_len' must be a whole number from 0, not -1")
  packed <- compress_entasis(x)
  for (max_len in list(NULL, Inf, length(x))) expect_identical(decompress_entasis(packed, max_len), x)
  expect_error(decompress_entasis(packed, length(x) - 1), "raise max_len", class = "entasis_error_limit")
  expect_error(decompress_entasis(x), "compress_entasis\\(\\)", class = "entasis_error_not_entasis")
})
