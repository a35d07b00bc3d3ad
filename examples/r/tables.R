# Write a data frame, then read columns and rows, and use an open table like a data frame.

library(entasis)

set.seed(1)
path <- tempfile(fileext = ".entasis")
flights <- data.frame(
  city = factor(sample(c("Bern", "Basel", "Chur"), 5000, TRUE)),
  price = round(runif(5000, 1, 20), 2),
  day = as.Date("2026-01-01") + sample(0:30, 5000, TRUE)
)
write_entasis(flights, path)
stopifnot(identical(read_entasis(path), flights))

# Columns by name, rows by position.
part <- read_entasis(path, c("city", "price"), from = 1001, to = 2000)
stopifnot(nrow(part) == 1000L, identical(part$price, flights$price[1001:2000]))

# An open table reads columns and rows when they are used.
x <- entasis(path)
dear <- x[x$price > 19, c("city", "price")]
stopifnot(nrow(dear) == sum(flights$price > 19))
print(aggregate(price ~ city, data = dear, FUN = length))

# A condition is tested on the file.
dear <- subset(x, price > 19 & city == "Bern", c(city, price))
n <- count_entasis(x, price > 19 & !is.na(city))
some <- sample_entasis(x, 2, c("city", "price"))
stopifnot(nrow(dear) == sum(flights$price > 19 & flights$city == "Bern"), n == sum(flights$price > 19), nrow(some) == 2L)

# More rows.
append_entasis(data.frame(city = "Bern", price = 4.5, day = as.Date("2026-02-01")), path)
stopifnot(nrow(read_entasis(path)) == 5001L)

# A flipped bit is a condition that says where.
bytes <- readBin(path, "raw", file.size(path))
middle <- length(bytes) %/% 2L
bytes[middle] <- xor(bytes[middle], as.raw(1))
writeBin(bytes, path)
caught <- tryCatch(read_entasis(path), entasis_error_corrupt = function(e) conditionMessage(e))
stopifnot(is.character(caught))
