# write_entasis(), and the document of a value.

# write_entasis(), and the plans of frames.
write_entasis <- function(x, path, compress = 50, functions = FALSE, edition = NULL, overwrite = TRUE, ..., key = NULL, password = NULL) {
  before <- use_secret_to_write(key, password)
  on.exit(restore_secret(before))
  given <- other_arguments(c("object", "file"), ...)
  if ("object" %in% names(given)) {
    if (missing(path) && !missing(x)) path <- x
    x <- given$object
  }
  if ("file" %in% names(given)) path <- given$file
  is_path <- is_string(x)
  path <- check_path(path, if (is_path) "; did you swap 'x' and 'path'?" else "")
  compress <- check_compression(compress)
  check_flag(functions, "functions")
  check_overwrite(overwrite, path)
  options <- write_options(compress, must_be_new = !overwrite, edition = check_edition(edition))
  refuse_encrypted(x, isFALSE(key))
  if (inherits(x, "entasis_csv_scan")) write_lazily(x, path, options) else write_value(read_lazy(x), path, functions, options)
  invisible(x)
}

# Writes rows that are read meanwhile.
write_lazily <- function(x, path, options) UseMethod("write_lazily")

# Writes a value to a file. With `change`, the value replaces the file's value, and the file's
# metadata stay.
write_value <- function(x, path, functions, options, change = NULL, operation = OPERATION$append,
                        metadata = if (!is.null(change)) stored_metadata(path)) {
  # Errors of the file's metadata must not look like errors of the value.
  force(metadata)
  doc <- tryCatch(document_of(x, functions, metadata), entasis_error_unsupported = function(e) {
    # Advise functions = TRUE only if it helps. This call raises the error of a value that can't be
    # stored either way.
    if (isTRUE(e$is_code) && !functions) document_of(x, TRUE, metadata)
    stop(e)
  })
  core(
    .Call(
      C_write, path, doc$made, doc$walker, c(doc$value, doc$environments_at, doc$metadata), options, change,
      operation
    )
  )
  report_pointers(doc)
}

# The metadata of a file; NULL for none.
stored_metadata <- function(path) {
  file <- open_file(path)
  on.exit(close_file(file))
  if (file$facts$metadata >= 0) read_cell(file, file$facts$metadata)
}

# The document of a value and metadata to write.
document_of <- function(x, functions, metadata = NULL) {
  doc <- new_document(functions)
  doc$value <- -1
  if (is_frame(x) || is.atomic(x) && !is.null(x)) {
    document_frame(doc, x, "")
  } else {
    doc$value <- document_walk(doc, x, "")
  }
  doc$metadata <- if (is.null(metadata)) -1 else document_walk(doc, metadata, "metadata")
  doc$environments_at <- document_finish(doc)
  doc
}

# Plans all frames and environments, which may contain others.
document_finish <- function(doc) {
  made <- list()
  records <- double()
  while (length(made) < doc$n_frames || length(records) < doc$n_environments) {
    k <- length(made) + 1L
    if (k <= doc$n_frames) {
      entry <- doc$frames[[as.character(k)]]
      made[[k]] <- make_frame(doc, entry[[1L]], entry[[2L]])
      next
    }
    k <- length(records) + 1L
    entry <- doc$environments[[as.character(k)]]
    doc$is_record <- TRUE
    records[k] <- document_walk(doc, environment_record(doc, entry[[1L]], entry[[2L]]), entry[[2L]])
    doc$is_record <- FALSE
  }
  doc$made <- made
  if (length(records) > 0L) .Call(C_references, doc$walker, records) else -1
}
