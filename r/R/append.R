# append_entasis(): adds rows to a file. docs/guides/changes.md has the rules.

append_entasis <- function(x, path, create = FALSE, fill = FALSE, compress = NULL, threads = NULL, durable = NULL, wait = 10, edition = NULL) {
  path <- check_path(path, if (is_string(x)) "; did you swap 'x' and 'path'?" else "")
  check_flag(create, "create")
  check_flag(fill, "fill")
  options <- change_options(durable, wait, compress, threads, edition)
  x <- read_lazy(x)
  check_rows_to_append(x)
  if (!file.exists(path)) {
    if (!create) {
      abort("io", paste0("cannot append to '", path, "': No such file or directory; create = TRUE writes it"), list(file = path))
    }
    if (write_first_rows(x, path, change_options(durable, wait, compress, threads, edition, must_be_new = TRUE))) {
      return(invisible(character()))
    }
  }
  change <- core(.Call(C_change, path, options))
  on.exit(.Call(C_change_end, change))
  file <- open_file(path)
  on.exit(close_file(file), add = TRUE)
  check_growing(file)
  if (can_grow_in_place(file) && append_in_place(file, x, fill, change, options)) {
    return(invisible(character()))
  }
  whole <- grown_value(value_of(file), x, fill, file)
  write_value(whole, path, FALSE, options, change)
  invisible(if (is_frame_like(whole)) names_of(whole) else NA_character_)
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
  }, entasis_error_io = function(e) {
    if (!file.exists(path)) stop(e)
    FALSE
  })
}

# Refuses files whose value R cannot append rows to.
check_growing <- function(file) {
  if (is_tree(file) && isTRUE(file$facts$is_own)) {
    abort("unsupported", paste0("not supported: the file holds neither a data frame nor a vector (file \"", file$path,
                                "\"); read it, change the value, and write it"), list(file = file$path))
  }
  if (!file$own) {
    host <- file$host$host
    by <- if (is_string(host)) substr(host, 1L, 60L) else if (is_tree(file)) "Python" else "another program"
    abort("unsupported", paste0("not supported: the file was written by ", by, " (file \"", file$path,
                                "\"); append to it from there, in Python by entasis.append()"), list(file = file$path))
  }
}

# The value of a file with the rows of `x` after its own.
grown_value <- function(old, x, fill, file) {
  if (is_frame_like(old)) grown_frame(old, x, fill, file) else grown_vector(old, x, file)
}

# Joins a vector as `c()` does.
grown_vector <- function(old, new, file) {
  fitted <- fit_vectors(old, new, is_all_missing(old), file)
  value <- join_columns_of(fitted$old, fitted$new, "x", file)
  if (!is.null(names_of(old)) || !is.null(names_of(new))) attr(value, "names") <- joined_names(old, new)
  value
}
