# Open files, threads, mappings and memory stay flat, however often files are opened and read.

# Makes `n` calls of each kind in one process, and returns a row for each kind with what has grown.
growth <- function(kinds, n) {
  if (!dir.exists("/proc/self/fd")) skip("needs /proc")
  out <- system2(
    file.path(R.home("bin"), "Rscript"), c("leaks.R", rbind(shQuote(kinds), n)), stdout = TRUE, stderr = TRUE
  )
  expect_null(attr(out, "status"), info = paste(out, collapse = "\n"))
  found <- read.csv(text = out)
  expect_identical(found$kind, kinds)
  found
}

test_that("nothing is kept after a call", {
  kinds <- c("frame", "tree", "some rows", "table", "abandoned", "lazy tree", "metadata", "append", "refused append",
             "generations", "columns", "refused columns", "writer", "abandoned writer", "damaged page",
             "damaged footer",
             "text file", "strings of a text file", "refused text file", "no such file", "no such column")
  # Each call of these makes files, most of them several.
  is_slow <- kinds %in% c("append", "generations", "columns", "writer", "text file")
  n <- by_tier(ifelse(is_slow, 60, 200), ifelse(is_slow, 200, 1000), ifelse(is_slow & kinds != "append", 10000, 100000))
  # A process takes long to start. But each kind has one of its own where there is time for it, as
  # memory that other kinds have returned may hide growth.
  found <- by_tier(growth(kinds, n), do.call(rbind, Map(growth, kinds, n)))
  for (k in seq_along(kinds)) {
    kind <- kinds[k]
    n <- found$n[k]
    grown <- found[k, ]
    if (is_long) message(kind, ": ", paste(names(grown)[-1L], grown[-1L], collapse = ", "))
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
