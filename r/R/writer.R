# writer_entasis(): writes a data frame batch by batch. docs/guides/changes.md has the rules.

writer_entasis <- function(path, append = FALSE, compress = NULL, threads = NULL, durable = NULL, wait = 10) {
  path <- check_path(path)
  check_flag(append, "append")
  options <- change_options(durable, wait, compress, threads)
  stream <- if (append) extended_stream(path, options) else core(.Call(C_stream, path, options))
  new_writer(writer_functions(stream, path, options), end_of_stream(stream))
}

# A stream that appends rows to a file.
extended_stream <- function(path, options) {
  stream <- begin_change(path, options)
  is_made <- FALSE
  on.exit(if (!is_made) .Call(C_change_end, stream))
  file <- open_file(path)
  on.exit(close_file(file), add = TRUE)
  check_has_frame(file)
  if (!can_grow_in_place(file)) refuse_batches(path, "the frame in the file")
  core(.Call(C_stream_extend, stream, options))
  is_made <- TRUE
  stream
}

# The functions of a writer. They must not refer to it, or it would never be collected.
writer_functions <- function(stream, path, options) {
  list(
    write = function(x, fill = FALSE) {
      check_flag(fill, "fill")
      check_open(stream)
      write_batch(stream, path, x, fill, options)
      invisible()
    },
    close = function() {
      check_open(stream)
      on.exit(.Call(C_change_end, stream))
      core(.Call(C_stream_finish, stream))
      invisible()
    },
    abort = function() {
      .Call(C_change_end, stream)
      invisible()
    }
  )
}

# Abandons a stream when its writer is collected. A forked process leaves its parent's stream alone.
end_of_stream <- function(stream) {
  process <- Sys.getpid()
  function(writer) if (Sys.getpid() == process) .Call(C_change_end, stream)
}

new_writer <- function(functions, end) {
  writer <- list2env(functions, parent = emptyenv())
  lockEnvironment(writer, bindings = TRUE)
  reg.finalizer(writer, end, onexit = TRUE)
  class(writer) <- "entasis_writer"
  writer
}

print.entasis_writer <- function(x, ...) {
  cat("<entasis writer>\n")
  invisible(x)
}

check_open <- function(stream) if (!.Call(C_is_open, stream)) wrong("the writer is closed: make another one")

# Adds the rows of a frame.
write_batch <- function(stream, path, x, fill, options) {
  x <- read_lazy(x)
  if (!is_frame(x)) must_be("x", "a data frame", x)
  handle <- core(.Call(C_stream_view, stream))
  if (is.null(handle)) {
    return(write_first_batch(stream, path, x, options))
  }
  on.exit(.Call(C_shut, handle))
  so_far <- table_so_far(handle, path)
  if (!can_grow_in_place(so_far)) refuse_batches(path, "the first batch")
  if (!append_in_place(so_far, x, fill, stream, options)) refuse_batch(so_far, x)
}

# The open file of the batches so far.
table_so_far <- function(handle, path) {
  file <- new.env(parent = emptyenv())
  file$path <- path
  file$functions <- FALSE
  file$int64 <- "fit"
  file$limits <- double()
  file$handle <- handle
  look_at(file)
  file
}

# The first batch sets the columns and their types.
write_first_batch <- function(stream, path, x, options) {
  # Drop the index of a data.table, as later batches add rows that it lacks.
  if (has_class(x, "data.table")) x <- decorate(unclass_all(x), attributes(x)[names(attributes(x)) != "index"])
  doc <- new_document(FALSE)
  document_frame(doc, x, "")
  document_finish(doc)
  is_stored <- is.null(doc$walker) && core(.Call(C_append, stream, doc$made[[1L]], options))
  if (!is_stored) refuse_batches(path, "the batch")
}

refuse_batches <- function(path, what) {
  abort("unsupported", paste0("not supported: ", what, " has lists, matrices, frames or objects as columns, groups, named values, row names ",
                              "other than 1, 2, 3 ..., or strings that are not UTF-8 (file \"", path,
                              "\"); change it, or write the whole frame with write_entasis()"), list(file = path))
}

# Refuses a batch whose values do not fit the columns so far.
refuse_batch <- function(file, x) {
  names <- layout_of(file)$names
  facts <- table_facts(file)
  missing <- facts$n_missing == facts$n_values
  columns <- bare_columns(file, seq_along(names), row_range(0, 0, -1))
  at <- match(names, names_of(x))
  grows <- vapply(seq_along(names), function(k) {
    !is.na(at[k]) && fit_column(.subset2(columns, k), .subset2(x, at[k]), names[k], missing[k], file)$grows
  }, NA)
  if (any(grows)) {
    wrong_column(file, names[grows][1L], "column ", listed(names[grows]), " needs another type than the first batch gave it: ",
                 "begin with doubles, or a value in a column of NA")
  }
  wrong("the batch is stored in another form than the first one, such as finer times, row names that do not go on, ",
        "or strings that are not UTF-8 (file \"", file$path, "\")")
}
