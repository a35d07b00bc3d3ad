# A file that asks for more than a limit allows is refused, with the name of the limit.

limit_error <- function(code) {
  error <- tryCatch({
    code
    NULL
  }, error = identity)
  expect_s3_class(error, "entasis_error_limit")
  conditionMessage(error)
}

test_that("each limit allows exactly its value", {
  # Both columns are in one bundle, which is a third column with one page.
  frame <- data.frame(a = as.double(1:1000), b = as.double(1:1000))
  names(frame)[2L] <- strrep("n", 300L)
  path <- written(frame, compress = 0)
  readers <- list(
    list("decoded_len", 16000, function(limits) read_entasis(path, limits = limits)),
    list("decoded_len", 8000, function(limits) read_entasis(path, "a", limits = limits)),
    list("decoded_len", 8000, function(limits) entasis(path, limits = limits)$a),
    list("name_len", 300, function(limits) read_entasis(path, limits = limits)),
    list("n_columns", 3, function(limits) read_entasis(path, limits = limits)),
    list("n_columns", 3, function(limits) entasis(path, limits = limits)),
    list("n_columns", 3, function(limits) metadata_entasis(path, limits = limits)),
    list("n_columns", 3, function(limits) verify_entasis(path, limits = limits)),
    list("page_payload_len", 16000, function(limits) read_entasis(path, limits = limits))
  )
  for (case in readers) {
    with_limit <- function(value) case[[3L]](setNames(list(value), case[[1L]]))
    expect_no_error(with_limit(case[[2L]]))
    expect_no_error(with_limit(case[[2L]] + 1))
    message <- limit_error(with_limit(case[[2L]] - 1))
    expect_match(message, paste0(case[[1L]], " allows ", shown_number(case[[2L]] - 1)), fixed = TRUE)
    expect_match(message, shown_number(case[[2L]]), fixed = TRUE)
    expect_match(
      message, paste0("if you trust the file, raise it: limits = list(", case[[1L]], " = ...)"), fixed = TRUE
    )
  }
})

test_that("every limit is named", {
  path <- written(data.frame(a = 1:3))
  names <- c(
    "metadata_len", "n_columns", "depth", "name_len", "page_payload_len", "n_nodes", "value_len", "decoded_len"
  )
  for (name in names) {
    expect_match(limit_error(read_entasis(path, limits = setNames(list(0), name))), paste(name, "allows 0"))
    expect_identical(read_entasis(path, limits = setNames(2^40, name)), data.frame(a = 1:3))
  }
  sealed <- tempfile(fileext = ".entasis")
  write_entasis(data.frame(a = 1:3), sealed, password = "correct horse")
  read <- function(limit) read_entasis(sealed, password = "correct horse", limits = list(derivation_len = limit))
  expect_match(limit_error(read(0)), "derivation_len allows 0")
  expect_identical(read(2^40), data.frame(a = 1:3))
  expect_error(
    read_entasis(path, limits = list(rows = 3)), "there is no limit 'rows', only metadata_len",
    class = "entasis_error_argument"
  )
  for (wrong in list(list(3), list(depth = -1), list(depth = "3"), list(depth = NA), "depth", list(depth = 1.5), NULL, mtcars)) {
    if (is.null(wrong)) next
    expect_error(read_entasis(path, limits = wrong), "'limits' must be", class = "entasis_error_argument")
  }
})

test_that("a column of equal values is read despite its compression", {
  path <- written(data.frame(a = rep(7, 4e6)))
  expect_lt(file.size(path), 40000)
  message <- limit_error(read_entasis(path, limits = list(decoded_len = 1e6)))
  expect_match(
    message, "the values to read need 32,000,000 bytes of memory, and decoded_len allows 1,000,000",
    fixed = TRUE
  )
  expect_identical(read_entasis(path, to = 3, limits = list(decoded_len = 1e6)), data.frame(a = c(7, 7, 7)))
})
