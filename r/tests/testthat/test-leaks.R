# Open files, threads, mappings and memory stay flat, however often files are opened and read.

is_long <- identical(Sys.getenv("ENTASIS_TEST_LONG"), "1")

growth <- function(kind, n) {
  if (!dir.exists("/proc/self/fd")) skip("needs /proc")
  out <- system2(file.path(R.home("bin"), "Rscript"), c("leaks.R", shQuote(kind), n), stdout = TRUE, stderr = TRUE)
  expect_null(attr(out, "status"), info = paste(out, collapse = "\n"))
  found <- read.table(text = out, col.names = c("what", "growth"))
  setNames(found$growth, found$what)
}

test_that("nothing is kept after a call", {
  kinds <- c("frame", "tree", "some rows", "table", "abandoned", "lazy tree", "metadata", "append", "refused append",
             "generations", "columns", "refused columns", "writer", "abandoned writer", "damaged page", "damaged footer",
             "text file", "strings of a text file", "refused text file", "no such file", "no such column")
  for (kind in kinds) {
    # Each call of these makes files, most of them several.
    n <- if (kind %in% c("append", "generations", "columns", "writer", "text file")) 200L else 1000L
    # A leak of each call is also seen in fewer.
    if (!is_release()) n <- n %/% 2L
    if (is_long) n <- if (kind == "append" || n == 1000L) 100000L else 10000L
    grown <- growth(kind, n)
    if (is_long) message(kind, ": ", paste(names(grown), grown, collapse = ", "))
    expect_lte(grown[["files"]], 0, label = paste("files of", kind))
    expect_lte(grown[["threads"]], 0, label = paste("threads of", kind))
    expect_lt(grown[["mappings"]], 40, label = paste("mappings of", kind))
    expect_lt(grown[["objects"]], n / 2, label = paste("objects of", kind))
    expect_lt(grown[["values"]], 8 * n, label = paste("values of", kind))
    expect_lt(grown[["resident"]], 24 * 2^20, label = paste("memory of", kind))
  }
})

test_that("a leak is found", {
  grown <- growth("leak", 200L)
  expect_gte(grown[["files"]], 200)
  expect_gt(grown[["objects"]], 200)
})
