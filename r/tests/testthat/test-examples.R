# The programs in examples/r of the repository, each in a separate process. A wrong value stops them
# with an error.

test_that("the examples run", {
  folder <- file.path(Sys.getenv("ENTASIS_GOLDEN"), "..", "examples", "r")
  if (Sys.getenv("ENTASIS_GOLDEN") == "" || !dir.exists(folder)) skip("needs ENTASIS_GOLDEN, the folder of golden files")
  programs <- list.files(folder, "[.]R$", full.names = TRUE)
  expect_gte(length(programs), 2L)
  rscript <- file.path(R.home("bin"), "Rscript")
  libraries <- paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  for (program in programs) {
    said <- suppressWarnings(system2(rscript, c("--vanilla", shQuote(program)), stdout = TRUE, stderr = TRUE, env = libraries))
    expect_null(attr(said, "status"), info = paste(c(program, said), collapse = "\n"))
  }
})
