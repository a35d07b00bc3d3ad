# Adds rows to the end of a file without storing its values anew. The rows are planned as columns
# with the forms of the file; the core compares the forms once more.

# Adds rows to a file. Returns the names of columns that were stored anew, or NULL if the whole file
# has to be. Only then is the file unchanged.
append_to_file <- function(path, x, fill, widen, options) {
  change <- core(.Call(C_change, path, options))
  on.exit(.Call(C_change_end, change))
  file <- open_file(path)
  on.exit(close_file(file), add = TRUE)
  check_growing(file)
  if (!can_grow_in_place(file)) {
    return(NULL)
  }
  rules <- append_rules(file, fill, widen)
  fitted <- fit_to_file(file, x, rules)
  set <- columns_to_set(file, fitted)
  if (is.null(set)) {
    return(if (append_fitted(file, fitted, x, change, options)) character())
  }
  if (is_vector_file(file)) {
    return(NULL)
  }
  core(.Call(C_stream_extend, change, options))
  if (!set_and_append(rules, set, x, change, options)) {
    return(NULL)
  }
  core(.Call(C_stream_finish, change))
  set$names
}

# Replaces and adds columns of the table of a stream, and then adds the rows. False if that is not
# possible.
set_and_append <- function(rules, set, x, stream, options) {
  if (!store_columns(rules$file, set$final, stream, set$operation, options, set$forms)) {
    return(FALSE)
  }
  handle <- core(.Call(C_stream_view, stream))
  on.exit(.Call(C_shut, handle))
  rules$file <- table_so_far(handle, rules$file$path)
  append_fitted(rules$file, fit_to_file(rules$file, x, rules), x, stream, options)
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

# The rows in the types of the file: the result of `fit_frames`, for a vector with one column.
fit_to_file <- function(file, x, rules) {
  facts <- table_facts(file)
  missing <- facts$n_missing == facts$n_values
  columns <- bare_columns(file, seq_along(facts$name), row_range(0, 0, -1))
  if (is_vector_file(file)) {
    fitted <- fit_vectors(columns[[1L]], x, missing, rules)
    return(list(old = columns, new = list(fitted$new), grows = fitted$grows, is_new = FALSE))
  }
  if (!is_frame_like(x)) must_be("x", "a data frame like that in the file", x)
  old <- decorate(columns, list(names = layout_of(file)$names, class = "data.frame", row.names = c(NA, 0L)))
  fit_frames(old, x, "", rules, missing)
}

# Adds rows whose types fit. False if that is not possible.
append_fitted <- function(file, fitted, x, change, options) {
  is_vector <- is_vector_file(file)
  part <- if (!is_vector) part_of_frame(file, fitted, x) else if (is.null(names_of(x))) fitted$new[[1L]]
  if (is.null(part)) {
    return(FALSE)
  }
  doc <- new_document(FALSE)
  plan <- new_plan(doc)
  plan$forms <- forms_of(table_facts(file))
  # Values that do not fit a form are an error of the core.
  made <- tryCatch({
    if (is_vector) plan_frame_made(plan, plan_atomic(plan, part), length_of(part)) else
      plan_frame_made(plan, plan_frame(plan, part), .row_names_info(part, 2L))
  }, entasis_error_argument = function(e) NULL)
  !is.null(made) && is.null(doc$walker) && core(.Call(C_append, change, made, options))
}

# The frame of the rows with the attributes of the file; NULL if its row names do not continue those
# of the file.
part_of_frame <- function(file, fitted, x) {
  attrs <- own_attributes(file)
  n <- c(file$facts$n_rows, .row_names_info(x, 2L))
  is_numbered_class <- any(c("tbl_df", "data.table") %in% attrs[["class"]])
  of_file <- structure(list(), row.names = c(NA, -as.integer(min(n[1L], .Machine$integer.max))))
  if (!is_numbered_class && !rows_go_on(of_file, x, n)) {
    return(NULL)
  }
  last <- NULL
  if (!is.null(attrs[["sorted"]])) {
    last <- vector("list", length(fitted$names))
    key <- match(attrs[["sorted"]], fitted$names, 0L)
    if (n[1L] > 0) last[key] <- bare_columns(file, key[key > 0L], row_range(n[1L] - 1, n[1L], -1))
  }
  attrs <- grown_attributes(attrs, fitted, last)
  attrs["names"] <- list(fitted$names)
  attrs[["row.names"]] <- c(NA, -as.integer(n[2L]))
  decorate(unname(fitted$new), attrs)
}
