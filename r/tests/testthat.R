if (requireNamespace("testthat", quietly = TRUE)) {
  library(testthat)
  library(entasis)
  test_check("entasis")
}
