# Programs and code blocks of the repository, each in a separate process. A wrong value stops it
# with an error.

repository <- function(...) {
  path <- file.path(Sys.getenv("ENTASIS_GOLDEN"), "..", ...)
  if (Sys.getenv("ENTASIS_GOLDEN") == "" || !file.exists(path)) skip("needs ENTASIS_GOLDEN, the folder of golden files")
  path
}

expect_runs <- function(program) {
  said <- suppressWarnings(
    system2(
      file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(program)), stdout = TRUE, stderr = TRUE,
      env = libraries()
    )
  )
  expect_null(attr(said, "status"), info = paste(c(program, said), collapse = "\n"))
}

test_that("the examples run", {
  programs <- list.files(repository("examples", "r"), "[.]R$", full.names = TRUE)
  expect_gte(length(programs), 2L)
  for (program in programs) expect_runs(program)
})

test_that("the code in the guides to changes, text files and moving runs", {
  for (guide in c("changes.md", "csv.md", "moving.md")) {
    lines <- readLines(repository("docs", "guides", guide), encoding = "UTF-8")
    starts <- which(lines == "```r")
    ends <- which(lines == "```")
    expect_gte(length(starts), 2L)
    blocks <- lapply(starts, function(start) lines[seq(start + 1L, min(ends[ends > start]) - 1L)])
    program <- tempfile(fileext = ".R")
    writeLines(c("library(entasis)", unlist(blocks)), program)
    expect_runs(program)
    unlink(program)
  }
})
