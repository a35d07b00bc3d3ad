# Metadata of a file: a second value, kept with the value of the file.

set_metadata_entasis <- function(value, path, durable = NULL, wait = 10, key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  check_order("set_metadata_entasis", "value", value, path)
  path <- check_path(path)
  options <- change_options(durable, wait)
  value <- read_lazy(value)
  change <- begin_change(path, options)
  on.exit(.Call(C_change_end, change), add = TRUE)
  file <- open_file(path)
  on.exit(close_file(file), add = TRUE)
  if (!is_own_file(file)) {
    abort("unsupported", paste0("not supported: the file was not written by R (file \"", file$path,
                                "\"); set its metadata from there, in Python by entasis.set_metadata()"), list(file = file$path))
  }
  as_metadata(if (!set_in_place(value, change, options)) {
    whole <- if (is_tree(file)) read_tree(file) else value_of(file)
    write_value(whole, path, FALSE, options, change, OPERATION$metadata, value)
  })
  invisible()
}

# Metadata hold no code, so the advice of write_entasis() does not help.
as_metadata <- function(expr) {
  tryCatch(expr, entasis_error_unsupported = function(e) {
    e$message <- sub("write with functions = TRUE(, or)?", "metadata hold no functions:", conditionMessage(e))
    e$message <- sub(":$", "", e$message)
    stop(e)
  })
}

# Stores metadata without storing the value of the file anew. False if that is not possible: the
# file has other objects, or frames are among the metadata.
set_in_place <- function(value, change, options) {
  if (is.null(value)) {
    return(core(.Call(C_change_metadata, change, NULL, c(-1, -1), options)))
  }
  doc <- new_document(FALSE)
  at <- document_walk(doc, value, "metadata")
  environments <- document_finish(doc)
  length(doc$made) == 0L && core(.Call(C_change_metadata, change, doc$walker, c(at, environments), options))
}
