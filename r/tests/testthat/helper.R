# Bit for bit: types, NaN, the order of attributes.
same <- function(x, y) {
  identical(x, y, num.eq = FALSE, single.NA = FALSE, attrib.as.set = FALSE) && same_marks(x, y)
}

# Identical except for the order of attributes, which `[` changes.
alike <- function(x, y) {
  identical(x, y, num.eq = FALSE, single.NA = FALSE) && same_marks(x, y)
}

# The encoding of each string, which identical() ignores.
same_marks <- function(x, y) {
  if (is.character(x)) {
    return(identical(Encoding(x), Encoding(y)))
  }
  if (is.list(x)) {
    return(all(unlist(Map(same_marks, unclass(x), unclass(y)))))
  }
  TRUE
}

round_trip <- function(x, compress = 50) {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  write_entasis(x, path, compress)
  read_entasis(path)
}

expect_kept <- function(x, compress = 50) {
  y <- round_trip(x, compress)
  expect_true(same(x, y), label = paste("kept:", paste(class(x), collapse = "/")), info = paste(all.equal(x, y), collapse = "; "))
}

written <- function(x, ...) {
  path <- tempfile(fileext = ".entasis")
  write_entasis(x, path, ...)
  path
}

# The frame without row names, which restart when some rows are read.
bare <- function(x) {
  rownames(x) <- NULL
  x
}

many <- function(n = 100000) {
  set.seed(7)
  data.frame(
    a = seq_len(n), b = runif(n), c = sample(c(letters, NA), n, TRUE), f = factor(sample(letters, n, TRUE)),
    d = as.Date("2020-01-01") + seq_len(n) %% 100, t = as.POSIXct("2020-01-01", tz = "UTC") + seq_len(n),
    l = rep_len(c(TRUE, NA, FALSE), n), u = paste("a string that is longer than a view,", seq_len(n))
  )
}

# lubridate asks timedatectl for the time zone when it is loaded, which warns without systemd.
suppressWarnings(requireNamespace("lubridate", quietly = TRUE))

# Runs lines of Python with the package entasis, and returns the output.
python <- function(code) {
  command <- Sys.getenv("ENTASIS_PYTHON")
  if (command == "") skip("needs ENTASIS_PYTHON")
  script <- tempfile(fileext = ".py")
  writeLines(c("import entasis as en, pandas as pd, numpy as np", code), script)
  out <- system2(command, shQuote(script), stdout = TRUE, stderr = TRUE)
  if (!is.null(attr(out, "status"))) stop(paste(out, collapse = "\n"))
  out
}

# Runs the command `entasis`, and returns what it says after a failure.
command <- function(...) {
  words <- paste0("r'", c(...), "'", collapse = ", ")
  python(c("import subprocess, sys", sprintf("done = subprocess.run([sys.executable, '-m', 'entasis', %s], capture_output=True, text=True)", words),
           "print(done.stderr.strip())"))
}

# The libraries of this session, for another one.
libraries <- function() paste0("R_LIBS=", shQuote(paste(.libPaths(), collapse = .Platform$path.sep)))
