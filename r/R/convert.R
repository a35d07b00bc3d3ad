# convert_entasis(): files of other formats as Entasis files, and back.

convert_entasis <- function(source, path, compress = 50, functions = FALSE, overwrite = TRUE, ..., key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  source <- check_source(source)
  path <- check_path(path)
  check_flag(functions, "functions")
  from <- format_of_name(source)
  to <- format_of_name(path)
  if (to != "entasis" && !missing(compress)) wrong("'compress' is for Entasis files, and 'path' names another")
  compress <- check_compression(compress)
  if (to != "csv" && from != "csv") other_arguments(character(), ...)
  if (normalizePath(source, mustWork = FALSE) == normalizePath(path, mustWork = FALSE)) {
    wrong("'source' and 'path' are the same file")
  }
  check_overwrite(overwrite, path)
  switch(to,
    # In bounded memory: the rows of an open table or of a scan are read while they are written.
    csv = write_csv_entasis(
      if (from == "csv") scan_csv_entasis(source) else entasis(source, key = secret_in_force()), path,
      overwrite = overwrite, ...
    ),
    rds = replaced(path, function(new) saveRDS(if (from == "csv") read_csv_entasis(source, ...) else read_entasis(source, functions = functions, key = secret_in_force()), new), overwrite),
    entasis = switch(from,
      csv = write_entasis(
        scan_csv_entasis(source, ...), path, compress, overwrite = overwrite, key = secret_in_force()
      ),
      entasis = wrong("both are Entasis files: copy the file, and use compact_entasis() for a shorter one"),
      core(.Call(C_convert, source, path, functions, write_options(compress, must_be_new = !overwrite)))
    ),
    wrong("'path' has no suffix of a format that is written: .entasis, .rds, .csv, .csv.gz")
  )
  invisible(path)
}

check_source <- function(source) {
  if (!is.character(source) || length(source) != 1L || is.na(source)) must_be("source", "a string", source)
  source <- enc2native(path.expand(source))
  if (!file.exists(source)) abort("io", paste0("there is no file \"", source, "\""))
  source
}

# The format that the suffix of a name says. Files of R are recognised by their content.
format_of_name <- function(path) {
  name <- sub("[.](gz|bgz|bz2|xz|zst)$", "", tolower(basename(path)))
  suffix <- if (grepl(".", name, fixed = TRUE)) sub(".*[.]", "", name) else ""
  switch(suffix,
    entasis = "entasis", csv = , tsv = , tab = , psv = , txt = "csv", rds = "rds", rda = , rdata = , qs2 = ,
    qdata = , fst = "r",
    parquet = , feather = ,
    arrow = wrong(
      "\"", basename(path), "\": the package arrow reads and writes .", suffix, " files: arrow::read_",
      if (suffix == "parquet") "parquet" else "feather", "()"
    ),
    "other"
  )
}

# Writes a file next to the target, and replaces the target when it is complete.
replaced <- function(path, write, overwrite) {
  new <- tempfile(paste0(basename(path), "."), dirname(path))
  on.exit(unlink(new))
  write(new)
  if (!overwrite) {
    # A link, unlike a new name, never replaces a file.
    if (suppressWarnings(file.link(new, path))) {
      return(invisible())
    }
    if (file.exists(path)) abort_exists(path)
    abort("io", paste0("the file system has no links, so \"", path, "\" can't be created without overwrite = TRUE"))
  }
  if (!file.rename(new, path)) abort("io", paste0("the new file can't replace \"", path, "\""))
}
