# Files whose bytes a function gives.

# A function that gives ranges of a file, and records them.
recorded <- function(path, size = TRUE, version = NULL) {
  asked <- list()
  read <- function(offset, length) {
    asked[[length(asked) + 1L]] <<- c(offset, length)
    con <- file(path, "rb")
    on.exit(close(con))
    seek(con, offset)
    bytes <- readBin(con, "raw", length)
    structure(bytes, size = if (size) file.size(path), version = version)
  }
  list(read = read, asked = function() do.call(rbind, asked))
}

frame <- function(n) {
  i <- seq_len(n)
  data.frame(
    id = i, x = (i * 7919) %% 1000003 / 3, s = sprintf("text %d", (i * 31) %% 977),
    f = factor(c("a", "b", "c")[i %% 3 + 1]),
    d = as.Date("2024-01-01") + i %% 400, t = as.POSIXct(i, origin = "1970-01-01", tz = "UTC"), l = i %% 2 == 0
  )
}

test_that("a table is read through a function as from its path", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  for (n in c(3L, 300000L)) {
    whole <- frame(n)
    write_entasis(whole, path)
    source <- recorded(path)
    table <- entasis(source = source$read)
    expect_identical(nrow(source$asked()), if (file.size(path) > 65536) 2L else 1L)
    expect_identical(table[], whole)
    expect_identical(table[c(2, 1, 3), c("s", "id")], whole[c(2, 1, 3), c("s", "id")], ignore_attr = "row.names")
    expect_identical(
      subset(table, x > 1000 & s == "text 31"), subset(whole, x > 1000 & s == "text 31"),
      ignore_attr = "row.names"
    )
    expect_identical(table$t, whole$t)
    expect_identical(names(table), names(whole))
    expect_output(print(table), "<source>", fixed = TRUE)
    expect_identical(entasis(source = recorded(path, size = FALSE)$read, size = file.size(path))[], whole)
    # All answers are within the file.
    asked <- source$asked()
    expect_true(all(asked[, 2] > 0 & rowSums(asked) <= max(file.size(path), 65536)))
  }
})

test_that("a few values cost a few requests", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  n <- 2e6
  x <- data.frame(id = seq_len(n), a = runif(n), b = runif(n), c = runif(n))
  write_entasis(x, path)
  source <- recorded(path)
  table <- entasis(source = source$read)
  before <- nrow(source$asked())
  expect_identical(
    table[c(5, 1e6, 1999999), c("id", "b")], x[c(5, 1e6, 1999999), c("id", "b")], ignore_attr = "row.names"
  )
  asked <- source$asked()[-seq_len(before), , drop = FALSE]
  expect_lte(nrow(asked), 8L)
  expect_lt(sum(asked[, 2]), file.size(path) / 4)
  before <- nrow(source$asked())
  expect_identical(table$a, x$a)
  asked <- source$asked()[-seq_len(before), , drop = FALSE]
  # Neighbouring blocks are read together, and the function is called by one thread.
  expect_lte(nrow(asked), 8L)
  before <- nrow(source$asked())
  expect_identical(subset(table, id == 1234567)$b, x$b[1234567])
  expect_lte(nrow(source$asked()) - before, 6L)
})

test_that("lists, dplyr and data.table work through a function", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  value <- list(a = frame(20000), b = list(1:10, "x", NULL), c = letters, d = as.list(runif(20000)))
  write_entasis(value, path)
  tree <- entasis(source = recorded(path)$read)
  expect_identical(tree$b[], value$b)
  expect_identical(tree$a[], value$a)
  expect_identical(tree[], value)
  write_entasis(value$a, path)
  table <- entasis(source = recorded(path)$read)
  skip_if_not_installed("dplyr")
  suppressMessages(library(dplyr, warn.conflicts = FALSE))
  of <- function(x) x |> filter(id %% 100 == 1, l) |> summarise(n = n(), x = sum(x), .by = f) |> collect()
  expect_identical(of(table), of(value$a))
})

test_that("what a function must not do is an error", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  write_entasis(frame(300000), path)
  size <- file.size(path)
  good <- recorded(path)$read
  expect_error(entasis(source = 1), "'source' must be a function", class = "entasis_error_argument")
  expect_error(entasis(path, source = good), "both name a file", class = "entasis_error_argument")
  expect_error(entasis(path, size = 3), "'size' is for 'source'", class = "entasis_error_argument")
  expect_error(
    entasis(source = recorded(path, size = FALSE)$read), "does not tell the size",
    class = "entasis_error_argument"
  )
  expect_error(entasis(source = function(offset, length) "text"), "a raw vector")
  expect_error(entasis(source = function(offset, length) stop("no connection")), "no connection")
  expect_error(
    entasis(source = function(offset, length) good(offset, length)[-1], size = size),
    "65,?535 bytes from offset 0, not 65,?536"
  )
  expect_error(entasis(source = good, size = size - 1), "replaced by another one")
  expect_error(entasis(source = function(offset, length) raw(length), size = 1e6), class = "entasis_error_not_entasis")
  # An error in the middle of a read, and a file that works afterwards.
  is_broken <- FALSE
  named <- structure(
    function(offset, length) if (is_broken) stop("the line is down") else good(offset, length),
    name = "https://example.org/x"
  )
  table <- entasis(source = named)
  is_broken <- TRUE
  error <- tryCatch(table[], entasis_error = identity)
  expect_match(conditionMessage(error), "the line is down")
  expect_match(conditionMessage(error), "https://example.org/x", fixed = TRUE)
  expect_s3_class(error, "entasis_error_io")
  expect_error(subset(table, x > 5), "the line is down")
  is_broken <- FALSE
  expect_identical(table[], frame(300000))
  # A replaced file.
  version <- "1"
  table <- entasis(source = function(offset, length) structure(good(offset, length), version = version))
  version <- "2"
  expect_error(table[], "replaced by another one")
  # Bytes of another file of the same length.
  is_other <- FALSE
  table <- entasis(source = function(offset, length) {
    bytes <- good(offset, length)
    if (is_other) xor(bytes, as.raw(1)) else bytes
  }, size = size)
  is_other <- TRUE
  expect_error(table[], class = "entasis_error_corrupt")
  # Interrupts of the function.
  table <- entasis(
    source = function(offset, length) if (is_other) good(offset, length) else invokeRestart("abort"),
    size = size
  )
  is_other <- FALSE
  expect_error(table[], "interrupted")
})

test_that("a saved table of a function opens again", {
  path <- tempfile(fileext = ".entasis")
  saved <- tempfile(fileext = ".rds")
  on.exit(unlink(c(path, saved)))
  write_entasis(frame(3000), path)
  source <- eval(bquote(function(offset, length) {
    con <- file(.(path), "rb")
    on.exit(close(con))
    seek(con, offset)
    structure(readBin(con, "raw", length), size = file.size(.(path)))
  }), globalenv())
  saveRDS(entasis(source = source), saved)
  script <- tempfile(fileext = ".R")
  writeLines(c("library(entasis)", sprintf("x <- readRDS('%s')", saved), "cat(nrow(x), sum(x$id), sep = ' ')"), script)
  out <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", script), stdout = TRUE)
  expect_identical(out, "3000 4501500")
})

# A server of the files of a folder, by ranges. It ends with the returned function.
served <- function(folder) {
  script <- tempfile(fileext = ".py")
  ready <- tempfile()
  writeLines(c(
    "import http.server, os, re, sys, threading", "folder, ready = sys.argv[1:]",
    "class Handler(http.server.BaseHTTPRequestHandler):",
    "    def do_GET(self):", "        with open(folder + self.path, 'rb') as file: content = file.read()",
    "        first, last = map(int, re.fullmatch(r'bytes=(\\d+)-(\\d+)', self.headers['Range']).groups())",
    "        part = content[first:last + 1]", "        self.send_response(206)",
    "        self.send_header('Content-Length', str(len(part)))",
    "        self.send_header('Content-Range', f'bytes {first}-{first + len(part) - 1}/{len(content)}')",
    "        self.send_header('ETag', str(os.stat(folder + self.path).st_mtime_ns))",
    "        self.end_headers()", "        self.wfile.write(part)",
    "    def log_message(self, *of): pass", "server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)",
    "with open(ready + '.new', 'w') as file: file.write(f'{server.server_port} {os.getpid()}')",
    "os.rename(ready + '.new', ready)",
    "threading.Timer(120, lambda: os._exit(0)).start()", "server.serve_forever()"
  ), script)
  system2(
    Sys.getenv("ENTASIS_PYTHON"), c(shQuote(script), shQuote(folder), shQuote(ready)), wait = FALSE,
    stdout = FALSE, stderr = FALSE
  )
  for (i in 1:200) if (file.exists(ready)) break else Sys.sleep(0.1)
  found <- scan(ready, quiet = TRUE)
  list(url = sprintf("http://127.0.0.1:%d", found[1L]), stop = function() tools::pskill(found[2L]))
}

test_that("the function of the manual reads from a server", {
  skip_on_cran()
  skip_if_not_installed("curl")
  if (Sys.getenv("ENTASIS_PYTHON") == "") skip("needs ENTASIS_PYTHON")
  folder <- tempfile()
  dir.create(folder)
  server <- served(folder)
  on.exit({
    server$stop()
    unlink(folder, recursive = TRUE)
  })
  manual <- tools::Rd_db("entasis")[["entasis.Rd"]]
  code <- utils::capture.output(tools::Rd2ex(manual))
  code <- parse(text = code, keep.source = FALSE)
  is_function <- vapply(
    code, function(e) is.call(e) && identical(e[[1L]], quote(`<-`)) && identical(e[[2L]], quote(ranges)), NA
  )
  eval(code[[which(is_function)]])
  for (n in c(100L, 300000L)) {
    path <- file.path(folder, "x.entasis")
    write_entasis(frame(n), path)
    table <- entasis(source = ranges(paste0(server$url, "/x.entasis")))
    expect_identical(table[], frame(n))
    expect_identical(subset(table, id == 77L), subset(frame(n), id == 77L), ignore_attr = "row.names")
  }
  write_entasis(frame(200000L), path)
  expect_error(table[], "replaced by another one")
})
