# Finds the checksums of a sound file, and repairs them after changes: what fuzz/python/checksums.py
# does, for the tests of R.

word_at <- function(bytes, at, n) sum(as.integer(bytes[at + seq_len(n)]) * 256^(seq_len(n) - 1))

# A data frame of checksums, each after those that its range contains: `sum_at` is the offset of the
# checksum, `at` and `len` give the bytes that it covers, and `what` names them.
find_checksums <- function(bytes) {
  found <- list()
  add <- function(what, sum_at, at, len) {
    found[[length(found) + 1L]] <<- data.frame(what = what, sum_at = sum_at, at = at, len = len)
  }
  from <- function(at, len, by) if (len > 0) seq(at, by = by, length.out = len / by) else numeric()
  block <- function(record) {
    directory <- word_at(bytes, record + 16, 8)
    at <- word_at(bytes, record + 24, 8)
    n_pages <- word_at(bytes, directory + 16, 4)
    if (word_at(bytes, directory + 20, 4) > 0) {
      len <- word_at(bytes, directory + 24, 4)
      add("page", directory + 32, at, len)
      at <- at + len
    }
    for (entry in from(directory + 40, 24 * n_pages, 24)) {
      len <- word_at(bytes, entry, 4)
      add("page", entry + 16, at, len)
      at <- at + len
    }
    add("directory", record + 48, directory, word_at(bytes, record + 32, 4))
  }
  part <- function(kind, height, at, len, sum_at) {
    if (height > 0) {
      for (entry in from(at, len, 24)) part(
        kind, height - 1, word_at(bytes, entry, 8), word_at(bytes, entry + 8, 4), entry + 16
      )
    } else if (kind == 6) {
      for (record in from(at, len, 64)) block(record)
    }
    add(paste("part", kind), sum_at, at, len)
  }
  root <- word_at(bytes, 72, 8)
  root_len <- word_at(bytes, 80, 4)
  for (record in from(root + 160, root_len - 160, 48)) {
    len <- word_at(bytes, record + 24, 4)
    if (len > 0) {
      part(word_at(bytes, record, 2), word_at(bytes, record + 28, 1), word_at(bytes, record + 16, 8), len, record + 32)
    }
  }
  trailer <- length(bytes) - 64
  add("root", 96, root, root_len)
  add("root", trailer + 40, root, root_len)
  add("slot", 64 + 56, 64, 56)
  add("trailer", trailer + 56, trailer, 56)
  add("header", 56, 0, 56)
  do.call(rbind, found)
}

repair_checksums <- function(bytes, sums) {
  for (i in seq_len(nrow(sums))) {
    digits <- entasis::hash_entasis(bytes[sums$at[i] + seq_len(sums$len[i])])
    # The hash is a number, whose lowest byte comes first in the file.
    first <- seq(15L, 1L, -2L)
    bytes[sums$sum_at[i] + 1:8] <- as.raw(strtoi(substring(digits, first, first + 1L), 16L))
  }
  bytes
}
