# Opens, reads and drops files many times, and prints what has grown. test-leaks.R runs this in a
# separate process, with kinds of calls and the number of calls of each.

library(entasis)
args <- commandArgs(TRUE)
tree <- list(a = 1:3, f = y ~ x, l = list("a", NULL, c(x = 1.5)), d = data.frame(u = 1:3), e = new.env())
frame <- data.frame(i = 1:50, f = (1:50) / 3, s = paste0("s", 1:50), c = factor(letters[1:50 %% 7 + 1]))

# The file that calls of a kind use.
file_for <- function(kind) {
  path <- tempfile(fileext = ".entasis")
  write_entasis(if (kind == "tree" || kind == "lazy tree") tree else frame, path, 0)
  if (kind == "damaged page" || kind == "damaged footer") {
    bytes <- readBin(path, "raw", file.size(path))
    bytes[261L] <- xor(bytes[261L], as.raw(1L))
    writeBin(if (kind == "damaged footer") utils::head(bytes, -100L) else bytes, path)
  }
  path
}

refused <- function(expr) {
  tryCatch({
    expr
    stop("the call did not fail")
  }, entasis_error = function(e) NULL)
}
kept <- list()
call_of <- function(kind, path) switch(kind,
  frame = function() read_entasis(path),
  tree = function() read_entasis(path),
  "some rows" = function() read_entasis(path, c("i", "s"), from = 3, to = 9),
  table = function() entasis(path)[c(3, 1), c("f", "c")],
  abandoned = function() entasis(path),
  "lazy tree" = function() entasis(path)[["l"]][[1L]],
  metadata = function() metadata_entasis(path),
  append = function() {
    write_entasis(frame, path, 0)
    append_entasis(frame[7, ], path, durable = FALSE)
  },
  "refused append" = function() refused(append_entasis(frame[-1], path)),
  generations = function() {
    write_entasis(frame, path, 0)
    for (k in 1:2) append_entasis(frame, path, durable = FALSE)
    numbers <- generations_entasis(path)$number
    read_entasis(path, generation = numbers[1L])
    rollback_entasis(path, numbers[1L], durable = FALSE)
    compact_entasis(path, durable = FALSE)
  },
  columns = function() {
    write_entasis(frame, path, 0)
    rename_columns_entasis(path, c(k = "i"), durable = FALSE)
    add_columns_entasis(frame["i"], path, durable = FALSE)
    set_metadata_entasis(list(author = "Ada"), path, durable = FALSE)
    drop_columns_entasis(path, "c", durable = FALSE)
  },
  "refused columns" = function() refused(drop_columns_entasis(path, "none")),
  writer = function() {
    w <- writer_entasis(path, durable = FALSE)
    for (k in 1:2) w$write(frame)
    w$close()
  },
  "abandoned writer" = function() {
    w <- writer_entasis(path, durable = FALSE)
    w$write(frame)
    w$abort()
  },
  "damaged page" = function() refused(read_entasis(path)),
  "damaged footer" = function() refused(entasis(path)),
  "text file" = function() {
    write_csv_entasis(frame, path)
    x <- read_csv_entasis(path, stringsAsFactors = TRUE)
    sniff_csv_entasis(path)
  },
  "strings of a text file" = function() read_csv_entasis(text = c("a,b", "x,y"))$a,
  "refused text file" = function() {
    refused(read_csv_entasis(text = c("a,b", "1", "2,3")))
    refused(write_csv_entasis(data.frame(a = 1i), path))
  },
  "no such file" = function() refused(read_entasis(paste0(path, "x"))),
  "no such column" = function() refused(read_entasis(path, "none")),
  leak = function() kept[[length(kept) + 1L]] <<- entasis(path)
)

# Memory that R uses is counted exactly, that of the core by the pages of the process.
measure <- function() {
  # Finalizers that one collection runs make objects free for the next.
  for (i in 1:3) used <- gc(full = TRUE)
  c(
    files = length(list.files("/proc/self/fd")), threads = length(list.files("/proc/self/task")),
    mappings = length(readLines("/proc/self/maps")), objects = used["Ncells", "used"],
    values = 8 * used["Vcells", "used"],
    resident = 1024 * as.numeric(gsub("[^0-9]", "", grep("^VmRSS", readLines("/proc/self/status"), value = TRUE)))
  )
}

growth <- function(kind, n) {
  call <- call_of(kind, file_for(kind))
  repeated <- function(n) for (i in seq_len(n)) call()
  # R compiles functions and fills caches first.
  for (i in 1:5) repeated(min(100L, n %/% 20L))
  before <- measure()
  repeated(n)
  measure() - before
}

for (i in 1:2) measure()
first <- seq(1L, length(args), by = 2L)
cat("kind,n,files,threads,mappings,objects,values,resident\n")
for (at in first) {
  n <- as.integer(args[at + 1L])
  cat(args[at], n, sprintf("%.0f", growth(args[at], n)), sep = ",")
  cat("\n")
}
