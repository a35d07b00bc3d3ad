# Runs the tests of the installed R package, as its DESCRIPTION says: several files at a time. Fails
# after a failed test.
# Usage: Rscript tools/run-r-tests.R <folder of tests> [regular expression for names of files]

args <- commandArgs(TRUE)
library(entasis)
results <- testthat::test_dir(args[1L], package = "entasis", load_package = "installed", reporter = "check", stop_on_failure = FALSE,
                              filter = if (length(args) > 1L) args[2L])
results <- as.data.frame(results)
failed <- sum(results$failed) + sum(results$error)
cat(sum(results$passed), " passed, ", failed, " failed\n", sep = "")
quit(status = if (failed > 0L || nrow(results) == 0L) 1L else 0L)
