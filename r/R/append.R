# append_entasis(): adds rows to a file. docs/guides/changes.md has the rules.

append_entasis <- function(x, path, create = FALSE, fill = FALSE, compress = NULL, threads = NULL, durable = NULL, wait = 10, edition = NULL,
                           widen = FALSE, key = NULL, password = NULL) {
  path <- check_path(path, if (is_string(x)) "; did you swap 'x' and 'path'?" else "")
  check_flag(create, "create")
  is_new <- create && !file.exists(path)
  before <- if (is_new) use_secret_to_write(key, password) else use_secret(key, password)
  on.exit(restore_secret(before))
  if (is_new) refuse_encrypted(x, isFALSE(key))
  check_flag(fill, "fill")
  check_flag(widen, "widen")
  options <- change_options(durable, wait, compress, threads, edition)
  x <- read_lazy(x)
  check_rows_to_append(x)
  if (dir.exists(path)) {
    wrong("'", path, "' is a folder: write_dataset_entasis(x, path, mode = \"append\") adds rows to its table")
  }
  if (!file.exists(path)) {
    if (!create) {
      abort(
        "io", paste0("cannot append to '", path, "': No such file or directory; create = TRUE writes it"),
        list(file = path)
      )
    }
    if (write_first_rows(x, path, change_options(durable, wait, compress, threads, edition, must_be_new = TRUE))) {
      return(invisible(character()))
    }
  }
  anew <- append_to_file(path, x, fill, widen, options)
  # A change that has become a stream cannot write the whole value, so that takes another change.
  if (is.null(anew)) anew <- append_by_writing(path, x, fill, widen, options)
  warn_of_dead(path)
  invisible(anew)
}

# Types and classes of the columns of a frame, by name, or of a vector.
column_types <- function(x) {
  lapply(if (is.data.frame(x)) as.list(x) else list(x), function(column) c(typeof(column), oldClass(column)))
}

# Writes the value of a file with more rows anew. Returns the names of all columns.
append_by_writing <- function(path, x, fill, widen, options) {
  change <- core(.Call(C_change, path, options))
  on.exit(.Call(C_change_end, change))
  file <- open_file(path)
  on.exit(close_file(file), add = TRUE)
  check_growing(file)
  old <- value_of(file)
  whole <- grown_value(old, x, append_rules(file, fill, widen))
  # An earlier generation with other columns or types stays.
  operation <- if (identical(column_types(old), column_types(whole))) OPERATION$append else OPERATION$replace
  write_value(whole, path, FALSE, options, change, operation)
  if (is_frame_like(whole)) names_of(whole) else NA_character_
}

check_rows_to_append <- function(x) {
  if (is_frame(x) || is.atomic(x) && !is.null(x)) {
    return(invisible())
  }
  if (!is_frame_like(x)) must_be("x", "a data frame or a vector", x)
  is_object <- vapply(unclass_all(x), function(column) !is.atomic(column) && typeof(column) != "list", NA)
  if (!any(is_object)) wrong("'x' is not a valid data frame: a column and the row names differ in length")
  name <- names_of(x)[is_object][1L]
  abort("unsupported", paste0("not supported: column '", name, "' of the rows to append is an object of class ",
                              shown_class(class(.subset2(x, which(is_object)[1L]))),
                              "; read the file, join the frames by the methods of that class, and write it again"), list(column = name))
}

# Writes the first rows of a file. False if another process was the first to write.
write_first_rows <- function(x, path, options) {
  tryCatch({
    write_value(x, path, FALSE, options)
    TRUE
  }, entasis_error_exists = function(e) FALSE)
}

# The value of a file with the rows of `x` after its own.
grown_value <- function(old, x, rules) {
  if (is_frame_like(old)) grown_frame(old, x, rules) else grown_vector(old, x, rules)
}

# Joins a vector as `c()` does.
grown_vector <- function(old, new, rules) {
  fitted <- fit_vectors(old, new, is_all_missing(old), rules)
  value <- join_columns_of(fitted$old, fitted$new, "x", rules)
  if (!is.null(names_of(old)) || !is.null(names_of(new))) attr(value, "names") <- joined_names(old, new)
  value
}
