# Ask an open table with the verbs of dplyr and with data.table's brackets.

library(entasis)

libraries <- c("dplyr", "data.table")
if (!all(vapply(libraries, requireNamespace, NA, quietly = TRUE))) {
  cat("this example needs dplyr and data.table\n")
  quit()
}
suppressPackageStartupMessages(library(data.table))

set.seed(1)
path <- tempfile(fileext = ".entasis")
flights <- data.frame(
  city = factor(sample(c("Bern", "Basel", NA), 5000, TRUE)),
  price = round(runif(5000, 1, 20), 2),
  day = as.Date("2026-01-01") + sample(0:30, 5000, TRUE)
)
write_entasis(flights, path)
x <- entasis(path)

# Verbs of dplyr read what they need.
dear <- x |>
  dplyr::filter(price > 19, !is.na(city)) |>
  dplyr::group_by(city) |>
  dplyr::summarise(n = dplyr::n(), price = mean(price))
stopifnot(sum(dear$n) == sum(flights$price > 19 & !is.na(flights$city)))
print(dear)

# The brackets work as in data.table.
sales <- entasis(path, as = "data.table")
by_day <- sales[city == "Bern", .(price = mean(price)), by = day]
n <- sales[price > 19, .N]
stopifnot(identical(by_day, as.data.table(flights)[city == "Bern", .(price = mean(price)), by = day]))
stopifnot(n == sum(flights$price > 19))
print(by_day)
unlink(path)
