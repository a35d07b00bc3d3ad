# Compression and hashing of raw vectors, with the arguments of fst.

compress_entasis <- function(x, compressor = c("LZ4", "ZSTD"), compression = 0, hash = FALSE, level = NULL) {
  check_raw(x)
  if (missing(compressor)) compressor <- "LZ4"
  if (!is.character(compressor) || length(compressor) != 1L || !toupper(compressor) %in% c("LZ4", "ZSTD")) {
    must_be("compressor", "\"LZ4\" or \"ZSTD\"", compressor)
  }
  compression <- check_number(compression, "compression", 0, 100)
  # Checksums are always written.
  check_flag(hash, "hash")
  codec <- tolower(compressor)
  if (!is.null(level)) {
    if (codec == "lz4") wrong("'level' is for ZSTD: LZ4 has none")
    level <- check_whole(level, "level", -131072, 22)
    if (level == 0) must_be("level", "from 1 to 22, or below 0 for speed", level)
  } else if (codec == "zstd") {
    level <- round(1 + 21 * compression / 100)
  }
  core(.Call(C_compress, x, codec, if (is.null(level)) -.Machine$integer.max else as.integer(level)))
}

decompress_entasis <- function(x, max_len = NULL) {
  check_raw(x)
  # The core replaces an infinite length by its default.
  if (is.null(max_len)) {
    max_len <- Inf
  } else {
    max_len <- if (identical(max_len, Inf)) 2^64 else check_whole(max_len, "max_len", 0)
  }
  found <- .Call(C_decompress, x, as.double(max_len))
  if (inherits(found, "entasis_failure")) {
    # Messages of the core name its own functions.
    found$message <- sub(
      "`compress`", "compress_entasis()", sub("`read`", "read_entasis()", found$message, fixed = TRUE),
      fixed = TRUE
    )
  }
  core(found)
}

hash_entasis <- function(x, seed = NULL, block_hash = TRUE) {
  check_raw(x)
  seed <- if (is.null(seed)) 0 else check_whole(seed, "seed", 0)
  # The hash does not depend on the number of threads.
  check_flag(block_hash, "block_hash")
  core(.Call(C_hash, x, seed))
}
