# write_dataset_entasis(): a data frame in a folder of files. Also joins files by value where the
# core refuses.

write_dataset_entasis <- function(x, path, partition_by = NULL, rows_per_file = NULL, mode = c("error", "append", "overwrite"), compress = 50,
                                  threads = NULL, durable = NULL, wait = 10, key = NULL, password = NULL) {
  before <- use_secret_to_write(key, password)
  on.exit(restore_secret(before))
  path <- check_path(path, if (is_string(x)) "; did you swap 'x' and 'path'?" else "")
  mode <- check_choice(mode, "mode", c("error", "append", "overwrite"))
  rows_per_file <- if (is.null(rows_per_file)) Inf else check_whole(rows_per_file, "rows_per_file", 1)
  compress <- check_compression(compress)
  state <- state_before(path, mode, is.null(key) && is.null(password))
  refuse_encrypted(x, isFALSE(key))
  x <- read_lazy(x)
  if (!is.data.frame(x)) must_be("x", "a data frame", x)
  if (.row_names_info(x) > 0L) wrong("'x' has row names, which a folder does not keep: make them a column")
  is_first <- state$number < 0
  if (is.null(durable) && !is_first) durable <- TRUE
  options <- change_options(durable, wait, compress, threads, NULL)
  keys <- keys_of_rows(x, keys_to_write(partition_by, state, mode), state)
  job <- name_of_job()
  written <- character()
  is_done <- FALSE
  on.exit(if (!is_done) unlink(file.path(path, written)), add = TRUE)
  parts <- files_of_rows(nrow(x), keys, rows_per_file)
  texts <- in_steps(lengths(parts), function(i) {
    rows <- parts[[i]]
    # Names of folders would show the keys of encrypted files.
    folders <- if (is.null(secret_in_force())) vapply(seq_along(keys$names), function(k) keys$folders[[k]][rows[1L]], "")
    name <- paste(c(folders, sprintf("part-%s-%05d.entasis", job, length(written))), collapse = "/")
    written <<- c(written, name)
    whole <- file.path(path, name)
    dir.create(dirname(whole), recursive = TRUE, showWarnings = FALSE)
    write_value(rows_of_frame(x, rows, setdiff(names(x), keys$names)), whole, FALSE, options)
    vapply(keys$texts, function(of) of[rows[1L]], "")
  })
  of <- list(
    path, job, written, keys$names, keys$types, as.character(unlist(texts)), mode != "append",
    if (mode == "overwrite") state$number else -1
  )
  core(.Call(C_folder_commit, of, options))
  is_done <- TRUE
  invisible(x)
}

# The folder before a job: the number of its manifest, or -1, and the names and types of its keys.
# The files that replace a table are encrypted as before if `follows`.
state_before <- function(path, mode, follows) {
  is_read <- mode == "append" || mode == "overwrite" && follows
  state <- core(.Call(C_folder_state, path, is_read))
  number <- number_of(state$number)
  exists <- function(...) abort("exists", paste0(...), list(file = path))
  if (nzchar(state$other)) {
    exists("'", path, "' has other files than a data set, such as '", state$other, "': name another folder")
  }
  if (number >= 0 && mode == "error") {
    exists("'", path, "' has a data set: mode = \"append\" adds rows to it, and mode = \"overwrite\" replaces it")
  }
  if (mode == "append" && !isTRUE(state$is_of_r)) {
    wrong("the files of '", path, "' were not written from R: append to them from there")
  }
  has_keys <- mode == "append" && !is.null(state$names)
  list(
    number = number, has_keys = has_keys, names = as.character(unlist(state$names)),
    types = as.character(unlist(state$types))
  )
}

# The names of the columns that become keys.
keys_to_write <- function(partition_by, state, mode) {
  if (!is.null(partition_by) && !(is.character(partition_by) && !anyNA(partition_by))) {
    must_be("partition_by", "names of columns", partition_by)
  }
  if (anyDuplicated(partition_by)) wrong("'partition_by' names a column twice")
  if (!state$has_keys) {
    return(as.character(partition_by))
  }
  if (!is.null(partition_by) && !identical(partition_by, state$names)) {
    wrong(
      "'partition_by' must be NULL or the keys of the table: ",
      if (length(state$names)) paste(state$names, collapse = ", ") else "none"
    )
  }
  state$names
}

# The keys of each row: texts, and names of folders.
keys_of_rows <- function(x, names, state) {
  missing <- setdiff(names, names(x))
  if (length(missing)) abort("column_not_found", paste0("'x' has no column '", missing[1L], "', which is a key"))
  if (length(names) && length(names) == ncol(x)) {
    wrong("'partition_by' names all columns, and the files would have none")
  }
  found <- lapply(names, function(name) key_texts(x[[name]], name))
  types <- vapply(found, function(key) key$type, "")
  if (state$has_keys) {
    is_other <- types != state$types & vapply(found, function(key) !all(is.na(key$texts)), NA)
    if (any(is_other)) {
      k <- which(is_other)[1L]
      wrong("the key '", names[k], "' is ", types[k], " in the rows, and ", state$types[k], " in the table")
    }
    types <- state$types
  }
  texts <- lapply(found, function(key) key$texts)
  folders <- Map(function(name, of) {
    levels <- unique(of)
    as.character(unlist(core(.Call(C_folder_names, name, levels))))[match(of, levels)]
  }, names, texts)
  list(names = names, types = types, texts = texts, folders = folders)
}

# The texts of a key, and its type in a manifest.
key_texts <- function(x, name) {
  if (is.factor(x)) x <- as.character(x)
  if (inherits(x, "Date") && all(is.na(x) | unclass(x) == trunc(unclass(x)))) {
    return(list(type = "date", texts = format(x)))
  }
  if (is.character(x) && is.null(oldClass(x))) {
    return(list(type = "string", texts = enc2utf8(x)))
  }
  is_whole <- is.numeric(x) && is.null(oldClass(x)) && all(is.na(x) | (abs(x) <= 2^53 & x == trunc(x)))
  if (!is_whole || any(is.nan(x))) {
    abort("unsupported", paste0("the key '", name, "' must have whole numbers, dates or text, not ", what_is(x)))
  }
  texts <- sprintf("%.0f", as.double(x))
  texts[is.na(x)] <- NA
  list(type = "int64", texts = texts)
}

# The numbers of the rows of each file. The order of the rows stays.
files_of_rows <- function(n, keys, rows_per_file) {
  if (length(keys$names) == 0L) {
    groups <- list(seq_len(n))
  } else {
    ids <- do.call(paste, c(lapply(keys$texts, function(of) match(of, unique(of))), sep = ":"))
    groups <- unname(split(seq_len(n), match(ids, unique(ids))))
  }
  pieces <- lapply(groups, function(rows) {
    if (length(rows) <= rows_per_file) list(rows) else unname(split(rows, ceiling(seq_along(rows) / rows_per_file)))
  })
  unlist(pieces, recursive = FALSE)
}

rows_of_frame <- function(x, rows, columns) {
  # A package that does not import data.table gets the rules of data frames for tables too.
  part <- x[rows, columns, drop = FALSE]
  attr(part, "row.names") <- .set_row_names(length(rows))
  part
}

# A random name, without R's random numbers, which belong to the user.
name_of_job <- function() {
  random <- gsub("[^0-9a-f]", "", basename(tempfile("")))
  time <- format(as.hexmode(as.integer((as.double(Sys.time()) * 1e6) %% 2^30)))
  substr(paste0(random, time, strrep("0", 16)), 1, 16)
}

# The files of a folder, and the texts of their keys.
parts_of <- function(path, limits = numeric()) {
  parts <- core(.Call(C_folder, path, limits))
  list(
    files = as.character(unlist(parts$files)), generations = vapply(parts$generations, number_of, 0),
    names = as.character(unlist(parts$names)), types = as.character(unlist(parts$types)),
    texts = lapply(parts$texts, as_texts)
  )
}

# Joins the files of a folder by the rules of append_entasis(), in a file that is removed at once.
folder_by_value.entasis_folder <- function(path, limits, reason) {
  parts <- parts_of(unclass(path), limits)
  keys <- Map(key_values, parts$texts, parts$types)
  temp <- tempfile("entasis-", fileext = ".entasis")
  on.exit(unlink(temp))
  outer <- secret_in_force()
  rows_of <- function(i) {
    rows <- with_secret(outer, rows_of_part(parts$files[i], parts$generations[i], limits, reason))
    for (k in seq_along(keys)) rows[[parts$names[k]]] <- rep(keys[[k]][i], nrow(rows))
    rows
  }
  # The temporary file shows no values of encrypted ones.
  is_encrypted <- any(vapply(parts$files, function(path) nrow(keys_entasis(path)) > 0L, NA))
  with_secret(if (is_encrypted) key_entasis(), {
    join_by_value(parts$files, rows_of, temp, 10)
    core(.Call(C_open, temp, limits, FALSE))
  })
}

# Writes the rows of files to one file. `rows_of` has them by number.
join_by_value <- function(files, rows_of, to, compress) {
  for (i in seq_along(files)) {
    rows <- rows_of(i)
    if (i == 1L) {
      write_value(rows, to, FALSE, write_options(compress, durable = FALSE))
    } else {
      tryCatch(append_entasis(rows, to, durable = FALSE, widen = TRUE, key = secret_in_force()), entasis_error = function(e) {
        # The advice and the path are those of an append to the joined file.
        said <- sub(" *(;|\\(file \").*", "", conditionMessage(e))
        abort(
          "argument", paste0(said, " (file \"", files[i], "\", which does not fit the files before it)"),
          list(file = files[i])
        )
      })
    }
  }
}

compact_entasis <- function(path, durable = NULL, wait = 10, rekey = FALSE, key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  path <- check_path(path)
  check_flag(rekey, "rekey")
  if (!dir.exists(path)) {
    return(compact_file(path, durable, wait, rekey))
  }
  if (rekey) wrong("'rekey' is for a file, and '", path, "' is a folder")
  compact_folder(path, durable, wait)
}

# Joins the files of a data set that have equal keys. The old files stay.
compact_folder <- function(path, durable, wait) {
  state <- core(.Call(C_folder_state, path, TRUE))
  number <- number_of(state$number)
  if (number < 0) wrong("'", path, "' has no manifest: write_dataset_entasis() makes one")
  if (!isTRUE(state$is_of_r)) wrong("the files of '", path, "' were not written from R: compact them from there")
  options <- change_options(if (is.null(durable)) TRUE else durable, wait)
  parts <- parts_of(path)
  ids <- do.call(
    paste,
    c(list(rep("", length(parts$files))), lapply(parts$texts, function(of) match(of, unique(of))), sep = ":")
  )
  groups <- split(seq_along(ids), match(ids, unique(ids)))
  if (all(lengths(groups) == 1L)) {
    return(invisible())
  }
  job <- name_of_job()
  written <- character()
  is_done <- FALSE
  on.exit(if (!is_done) unlink(file.path(path, written)))
  relative <- substring(parts$files, nchar(sub("/+$", "", path)) + 2L)
  groups <- unname(groups)
  paths <- in_steps(lengths(groups), function(i) {
    group <- groups[[i]]
    if (length(group) == 1L) {
      return(relative[group])
    }
    name <- sprintf("part-%s-%05d.entasis", job, length(written))
    folder <- dirname(relative[group[1L]])
    name <- if (folder == ".") name else paste0(folder, "/", name)
    written <<- c(written, name)
    whole <- file.path(path, name)
    rows_of <- function(i) rows_of_part(
      parts$files[group[i]], parts$generations[group[i]], numeric(), simpleError("a file holds no data frame")
    )
    join_by_value(parts$files[group], rows_of, whole, NULL)
    compact_file(whole, durable)
    name
  })
  paths <- as.character(unlist(paths))
  firsts <- vapply(groups, function(group) group[1L], 0L)
  texts <- lapply(firsts, function(i) vapply(parts$texts, function(of) of[i], ""))
  of <- list(path, job, paths, parts$names, parts$types, as.character(unlist(texts)), TRUE, number)
  core(.Call(C_folder_commit, of, options))
  is_done <- TRUE
  invisible()
}

# The rows of a file that R wrote.
rows_of_part <- function(path, generation, limits, reason) {
  file <- open_file(path, limits = limits, generation = generation)
  on.exit(close_file(file))
  if (is_tree(file) || !file$own || identical(file$host$form, "vector")) stop(reason)
  read_entasis(path, generation = generation, limits = limits, key = secret_in_force())
}

as_texts <- function(texts) vapply(texts, function(text) if (is.null(text)) NA_character_ else text, "")

# The values of a key. Whole numbers are integers if all fit.
key_values <- function(texts, type) {
  switch(type,
    date = as.Date(texts),
    string = texts,
    int64 = {
      numbers <- as.double(texts)
      if (all(is.na(numbers) | abs(numbers) <= .Machine$integer.max)) as.integer(numbers) else numbers
    }
  )
}
