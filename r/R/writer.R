# writer_entasis(): writes a data frame batch by batch. docs/guides/changes.md has the rules.

writer_entasis <- function(path, append = FALSE, compress = NULL, threads = NULL, durable = NULL, wait = 10, times = "finest", edition = NULL,
                           widen = FALSE, overwrite = TRUE, key = NULL, password = NULL) {
  path <- check_path(path)
  check_flag(append, "append")
  before <- if (append) use_secret(key, password) else use_secret_to_write(key, password)
  on.exit(restore_secret(before))
  check_flag(widen, "widen")
  times <- check_choice(times, "times", c("finest", "first", "double"))
  if (append && times != "finest") wrong("'times' is for new files: rows that are appended get the form of the file")
  check_flag(overwrite, "overwrite")
  if (append && !overwrite) wrong("'overwrite = FALSE' is for new files, and 'append = TRUE' adds to one that exists")
  check_overwrite(overwrite, path)
  options <- change_options(durable, wait, compress, threads, edition, must_be_new = !overwrite)
  stream <- if (append) extended_stream(path, options) else core(.Call(C_stream, path, options))
  new_writer(writer_functions(stream, path, append, options, times, widen, isFALSE(key)), end_of_stream(stream))
}

# A stream that appends rows to a file.
extended_stream <- function(path, options) {
  stream <- begin_change(path, options)
  is_made <- FALSE
  on.exit(if (!is_made) .Call(C_change_end, stream))
  file <- open_file(path)
  on.exit(close_file(file), add = TRUE)
  check_has_frame(file)
  refuse_batches(path, "the frame in the file", why_not_in_place(file))
  core(.Call(C_stream_extend, stream, options))
  is_made <- TRUE
  stream
}

# The functions of a writer. They must not refer to it, or it would never be collected; nor to the
# call that has the key, which would be saved with the writer.
writer_functions <- function(stream, path, append, options, times, widen, is_clear) {
  for (name in names(formals())) force(get(name))
  n_refused <- 0L
  secret <- secret_in_force()
  list(
    write = function(x, fill = FALSE) {
      check_flag(fill, "fill")
      check_open(stream)
      is_written <- FALSE
      on.exit(if (!is_written) n_refused <<- n_refused + 1L)
      if (!append) with_secret(secret, refuse_encrypted(x, is_clear))
      write_batch(stream, path, x, fill, options, times, widen)
      is_written <- TRUE
      invisible()
    },
    close = function() {
      check_open(stream)
      on.exit(.Call(C_change_end, stream))
      core(.Call(C_stream_finish, stream))
      if (n_refused > 0L) warn_refused(path, n_refused)
      if (append) with_secret(secret, warn_of_dead(path))
      invisible()
    },
    abort = function() {
      if (.Call(C_is_open, stream)) core(.Call(C_stream_check, stream))
      .Call(C_change_end, stream)
      invisible()
    }
  )
}

# A loop may go on after an error, so closing the writer reports which rows are not in the file.
warn_refused <- function(path, n) {
  warning(n, if (n == 1L) " batch was" else " batches were", " refused with an error, and ", if (n == 1L) "is" else "are", " not in the file \"", path, "\"",
          call. = FALSE)
}

# Abandons a stream when its writer is collected. In a forked process that does nothing.
end_of_stream <- function(stream) function(writer) .Call(C_change_end, stream)

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

check_open <- function(stream) {
  if (!.Call(C_is_open, stream)) wrong("the writer is closed: make another one")
  core(.Call(C_stream_check, stream))
}

# Adds the rows of a frame.
write_batch <- function(stream, path, x, fill, options, times, widen) {
  x <- read_lazy(x)
  if (!is_frame(x)) must_be("x", "a data frame", x)
  handle <- core(.Call(C_stream_view, stream))
  if (is.null(handle)) {
    return(write_first_batch(stream, path, x, options, times))
  }
  on.exit(.Call(C_shut, handle))
  so_far <- table_so_far(handle, path)
  refuse_batches(path, "the first batch", why_not_in_place(so_far))
  rules <- append_rules(so_far, fill, widen)
  fitted <- fit_to_file(so_far, x, rules)
  set <- columns_to_set(so_far, fitted)
  # Columns that a refused batch had changed would stay changed.
  if (!is.null(set)) check_batch(so_far, x)
  is_written <- if (is.null(set)) append_fitted(so_far, fitted, x, stream, options) else set_and_append(rules, set, x, stream, options)
  if (!is_written) {
    check_batch(so_far, x)
    wrong("the batch has attributes other than those of the first one (file \"", path, "\")")
  }
}

# The first batch sets the columns and their types. Times get the finest form, which later batches
# may need.
write_first_batch <- function(stream, path, x, options, times) {
  # Drop the index of a data.table, as later batches add rows that it lacks.
  if (has_class(x, "data.table")) x <- decorate(unclass_all(x), attributes(x)[names(attributes(x)) != "index"])
  doc <- new_document(FALSE)
  doc$times <- times
  document_frame(doc, x, "")
  document_finish(doc)
  is_stored <- is.null(doc$walker) && core(.Call(C_append, stream, doc$made[[1L]], options))
  if (!is_stored) refuse_batches(path, "the batch", why_no_batch(x))
}

# Why a frame can't begin a file of batches.
why_no_batch <- function(x) {
  named <- function(which) paste0("column '", substr(names_of(x)[which][1L], 1L, 60L), "'")
  lists <- vapply(
    unclass(x), function(column) typeof(column) == "list" && !is_frame_like(column) && !is_lt_like(column), NA
  )
  texts <- vapply(unclass(x), has_other_text, NA)
  if (any(lists)) paste(named(lists), "is a list") else
    if (any(texts)) paste(named(texts), NOT_UTF8) else
      "a column or the frame has lists, functions or other objects as attributes"
}

# Refuses batches for a reason, if there is one.
refuse_batches <- function(path, what, why) {
  if (is.null(why)) {
    return(invisible())
  }
  abort("unsupported", paste0("not supported: rows cannot follow ", what, ", because ", why, " (file \"", path,
                              "\"); change it, or write the whole frame with write_entasis()"), list(file = path))
}

# Refuses a batch that cannot be added to the columns so far, by the first reason that is found.
check_batch <- function(file, x) {
  named <- function(which, why) {
    name <- names_of(x)[which][1L]
    wrong_column(file, name, "column '", substr(name, 1L, 60L), "' of the batch ", why)
  }
  columns <- unclass_all(x)
  lists <- vapply(columns, function(column) typeof(column) == "list", NA)
  if (any(lists)) named(lists, "has lists, a data frame or objects: write the whole frame with write_entasis()")
  texts <- vapply(columns, has_other_text, NA)
  if (any(texts)) named(texts, NOT_UTF8)
  if (!rows_go_on(structure(list(), row.names = c(NA, -1L)), x, c(file$facts$n_rows, .row_names_info(x, 2L)))) {
    wrong(
      "the row names of the batch do not go on with ", sprintf("%.0f", file$facts$n_rows + 1), " (file \"",
      file$path, "\"): remove them"
    )
  }
}
