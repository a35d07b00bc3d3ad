# The programs in examples/r of the repository. They stop with an error where a value is wrong.

test_that("the examples run", {
  folder <- file.path(Sys.getenv("ENTASIS_GOLDEN"), "..", "examples", "r")
  if (Sys.getenv("ENTASIS_GOLDEN") == "" || !dir.exists(folder)) skip("needs ENTASIS_GOLDEN, the folder of golden files")
  programs <- list.files(folder, "[.]R$", full.names = TRUE)
  expect_gte(length(programs), 2L)
  for (program in programs) {
    expect_error(utils::capture.output(source(program, local = new.env(parent = globalenv()))), NA, info = program)
  }
})
