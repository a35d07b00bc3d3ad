# writer_entasis(): writes a data frame batch by batch. docs/guides/changes.md has the rules.

writer_entasis <- function(path, append = FALSE, compress = NULL, threads = NULL, durable = NULL, wait = 10, times = "finest", edition = NULL) {
  path <- check_path(path)
  check_flag(append, "append")
  times <- check_choice(times, "times", c("finest", "first", "double"))
  if (append && times != "finest") wrong("'times' is for new files: rows that are appended get the form of the file")
  options <- change_options(durable, wait, compress, threads, edition)
  stream <- if (append) extended_stream(path, options) else core(.Call(C_stream, path, options))
  new_writer(writer_functions(stream, path, options, times), end_of_stream(stream))
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

# The functions of a writer. They must not refer to it, or it would never be collected.
writer_functions <- function(stream, path, options, times) {
  n_refused <- 0L
  list(
    write = function(x, fill = FALSE) {
      check_flag(fill, "fill")
      check_open(stream)
      is_written <- FALSE
      on.exit(if (!is_written) n_refused <<- n_refused + 1L)
      write_batch(stream, path, x, fill, options, times)
      is_written <- TRUE
      invisible()
    },
    close = function() {
      check_open(stream)
      on.exit(.Call(C_change_end, stream))
      core(.Call(C_stream_finish, stream))
      if (n_refused > 0L) warn_refused(path, n_refused)
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
write_batch <- function(stream, path, x, fill, options, times) {
  x <- read_lazy(x)
  if (!is_frame(x)) must_be("x", "a data frame", x)
  handle <- core(.Call(C_stream_view, stream))
  if (is.null(handle)) {
    return(write_first_batch(stream, path, x, options, times))
  }
  on.exit(.Call(C_shut, handle))
  so_far <- table_so_far(handle, path)
  refuse_batches(path, "the first batch", why_not_in_place(so_far))
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
  lists <- vapply(unclass(x), function(column) typeof(column) == "list" && !is_frame_like(column) && !is_lt_like(column), NA)
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

# Refuses a batch whose values do not fit the columns so far, by the first reason that is found.
refuse_batch <- function(file, x) {
  names <- layout_of(file)$names
  facts <- table_facts(file)
  missing <- facts$n_missing == facts$n_values
  columns <- bare_columns(file, seq_along(names), row_range(0, 0, -1))
  at <- match(names, names_of(x))
  fitted <- lapply(which(!is.na(at)), function(k) {
    fit_column(.subset2(columns, k), .subset2(x, at[k]), names[k], missing[k], file)
  })
  grows <- vapply(fitted, `[[`, NA, "grows")
  if (any(grows)) {
    grown <- names[!is.na(at)][grows]
    wrong_column(file, grown[1L], "column ", listed(grown), " needs another type than the first batch gave it: ",
                 "begin with doubles, or a value in a column of NA")
  }
  for (k in seq_along(fitted)) {
    of <- which(!is.na(at))[k]
    why <- if (get_level_na(lapply(facts, `[`, of), list(fitted[[k]]$new))) {
      "has a level NA, and missing values in earlier batches: begin with addNA()"
    } else {
      why_column_differs(fitted[[k]]$new, facts$unit[of], names[of])
    }
    if (!is.null(why)) wrong_column(file, names[of], "column '", substr(names[of], 1L, 60L), "' of the batch ", why)
  }
  if (!rows_go_on(structure(list(), row.names = c(NA, -1L)), x, c(file$facts$n_rows, .row_names_info(x, 2L)))) {
    wrong("the row names of the batch do not go on with ", sprintf("%.0f", file$facts$n_rows + 1), " (file \"", file$path, "\"): remove them")
  }
  wrong("the batch has attributes other than those of the first one (file \"", file$path, "\")")
}
