# Filters of a file. Entasis filters the open file. The alternative reads the columns with fst (or
# all with Entasis, where the table says so) and filters them in memory.
#
#   Rscript bench/r/filters.R [rows = 1e8] [rounds = 5] [parts = subset,dplyr,data.table,key]
#
# Tests of subset and key get all rows, dplyr and data.table a tenth of them. 10^8 rows take
# 2.8 GB in memory, and their columns are read again. Each call opens its file, which is in the page
# cache. The results are compared first.

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1L]))
source(file.path(here, "formats.R"))
rows <- number_at(1L, 1e8)
rounds <- number_at(2L, 5)
parts <- words_at(3L, c("subset", "dplyr", "data.table", "key"))
about()
set.seed(5)

# An ascending key, ten cities, a year of days, prices in cents and small integers.
sales <- function(n) {
  data.frame(
    id = seq_len(n),
    city = factor(sample(labels(UScitiesD), n, TRUE)),
    # fst turns whole numbers into another class of dates.
    day = structure(as.double(sample(18262:18627, n, TRUE)), class = "Date"),
    price = sample.int(10000L, n, TRUE) / 100,
    amount = sample.int(100L, n, TRUE)
  )
}

# The paths of a frame in each format.
stored <- function(frame) {
  formats <- chosen(frame_formats, "fst")
  formats <- formats[intersect(names(formats), c("Entasis", "fst"))]
  lapply(formats, function(format) {
    path <- tempfile()
    format$write(frame, path)
    path
  })
}

# Times several ways to the same result in turn; medians in milliseconds.
compare_ways <- function(what, ways, rounds) {
  plain <- function(x) {
    x <- as.data.frame(x)
    attr(x, "row.names") <- .set_row_names(nrow(x))
    attributes(x) <- attributes(x)[c("names", "class", "row.names")]
    x
  }
  results <- lapply(ways, function(way) plain(way()))
  for (name in names(results)) if (!identical(results[[name]], results[[1L]])) stop(name, " gives another result: ", what)
  n_rows <- nrow(results[[1L]])
  rm(results)
  times <- matrix(NA, rounds, length(ways), dimnames = list(NULL, names(ways)))
  for (round in seq_len(rounds)) for (name in names(ways)) times[round, name] <- seconds_of(ways[[name]]())
  medians <- apply(times, 2L, median)
  cat("\n", what, ", ", n_rows, " rows: milliseconds, medians of ", rounds, " rounds in turn\n", sep = "")
  print(round(1000 * medians, 2))
  medians
}

aim <- function(medians, than, limit) {
  if (!than %in% names(medians)) {
    return(cat(sprintf("target: <= %.2f x %s: not measured, as it is not installed\n", limit, than)))
  }
  ratio <- medians[["Entasis"]] / medians[[than]]
  cat(sprintf("target: <= %.2f x %s: %.3f, %s\n", limit, than, ratio, if (ratio <= limit) "met" else "missed"))
}

with_fst <- function(ways, fst_way) if (has("fst")) c(ways, list(fst = fst_way)) else ways

if (any(c("subset", "key") %in% parts)) {
  paths <- stored(sales(rows))
  columns <- c("city", "price", "amount")
  if ("subset" %in% parts) {
    ways <- with_fst(list(
      Entasis = function() subset(entasis(paths$Entasis), city == "Miami" & price <= 10, c(city, price, amount)),
      `Entasis, read first` = function() subset(read_entasis(paths$Entasis, columns), city == "Miami" & price <= 10)
    ), function() subset(fst::read_fst(paths$fst, columns), city == "Miami" & price <= 10))
    found <- compare_ways(sprintf("subset of %s rows by a factor and a number, three columns", format(rows, big.mark = ",")), ways, rounds)
    aim(found, "fst", 0.2)
  }
  if ("key" %in% parts) {
    x <- entasis(paths$Entasis)
    keys <- sample.int(rows, 200L)
    one <- seconds_of(for (key in keys) subset(x, id == key)) / length(keys)
    stopifnot(identical(vapply(keys[1:10], function(key) subset(x, id == key)$id, 0L), keys[1:10]))
    cat(sprintf("\none key of a sorted column of %s rows, five columns, file open: mean of 200 %.3f ms (target 0.5)\n", format(rows, big.mark = ","), 1000 * one))
  }
  unlink(unlist(paths))
}

n <- rows / 10
if ("dplyr" %in% parts && has("dplyr")) {
  paths <- stored(sales(n))
  ask <- function(x) {
    x <- dplyr::filter(x, city == "Miami", price > 20)
    dplyr::collect(dplyr::summarise(dplyr::group_by(x, day), n = dplyr::n(), mean = mean(price)))
  }
  ways <- with_fst(
    list(Entasis = function() ask(entasis(paths$Entasis)), `Entasis, read first` = function() ask(read_entasis(paths$Entasis))),
    function() ask(fst::read_fst(paths$fst))
  )
  found <- compare_ways(sprintf("dplyr: filter, group_by and summarise of %s rows", format(n, big.mark = ",")), ways, rounds)
  aim(found, "fst", 0.5)
  unlink(unlist(paths))
}

if ("data.table" %in% parts && has("data.table")) {
  library(data.table)
  setDTthreads(n_threads)
  paths <- stored(as.data.table(sales(n)))
  ways <- with_fst(list(
    Entasis = function() entasis(paths$Entasis)[city == "Miami", .(m = mean(price)), by = day],
    `Entasis, read first` = function() read_entasis(paths$Entasis)[city == "Miami", .(m = mean(price)), by = day]
  ), function() fst::read_fst(paths$fst, as.data.table = TRUE)[city == "Miami", .(m = mean(price)), by = day])
  found <- compare_ways(sprintf("data.table: a mean by day in one city of %s rows", format(n, big.mark = ",")), ways, rounds)
  aim(found, "fst", 0.5)
  unlink(unlist(paths))
}
