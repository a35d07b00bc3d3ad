# Raw vectors: compressed, decompressed, hashed.

compress_entasis <- function(x, compressor = c("LZ4", "ZSTD"), level = NULL) {
  check_raw(x)
  compressor <- tolower(match.arg(compressor))
  if (!is.null(level) && (!is.numeric(level) || length(level) != 1L || is.na(level))) wrong("'level' is a number")
  core(.Call(C_compress, x, compressor, if (is.null(level)) -.Machine$integer.max else as.integer(level)))
}

decompress_entasis <- function(x, max_len = Inf) {
  check_raw(x)
  if (!is.numeric(max_len) || length(max_len) != 1L || is.na(max_len)) wrong("'max_len' is a number of bytes")
  core(.Call(C_decompress, x, as.double(max_len)))
}

hash_entasis <- function(x, seed = 0) {
  check_raw(x)
  if (!is.numeric(seed) || length(seed) != 1L || is.na(seed) || seed < 0 || seed >= 2^53) {
    wrong("'seed' is a whole number from 0 on")
  }
  core(.Call(C_hash, x, as.double(seed)))
}

check_raw <- function(x) if (!is.raw(x)) wrong("'x' is a raw vector; serialize() makes one of any object")
