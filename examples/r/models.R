# Save a fitted model with its data, then read the model alone.

library(entasis)

path <- tempfile(fileext = ".entasis")
fit <- lm(mpg ~ wt, mtcars)
write_entasis(list(fit = fit, seed = 7L, data = mtcars), path)

# Parts are read alone; nothing in the file is evaluated.
run <- entasis(path)
stopifnot(identical(run$seed, 7L))
again <- run$fit
stopifnot(identical(coef(again), coef(fit)))
print(predict(again, data.frame(wt = 3)))

# A function is code, so both sides must ask for it.
refused <- tryCatch(write_entasis(list(f = mean), path), entasis_error = function(e) conditionMessage(e))
stopifnot(is.character(refused))
double <- function(x) 2 * x
write_entasis(list(f = double), path, functions = TRUE)
stopifnot(read_entasis(path, functions = TRUE)$f(21) == 42)
