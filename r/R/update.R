# update_entasis(): sets and removes values of the named list in a file.

update_entasis <- function(values = list(), path, remove = NULL, compress = NULL, threads = NULL, durable = NULL, wait = 10,
                           functions = FALSE, edition = NULL, key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  check_order("update_entasis", "values", values, if (!missing(path)) path)
  path <- check_path(path)
  check_flag(functions, "functions")
  values <- read_lazy(values)
  check_values(values)
  if (!is.null(remove) && (!is.character(remove) || anyNA(remove))) {
    must_be("remove", "a character vector of names", remove)
  }
  options <- change_options(durable, wait, compress, threads, edition)
  change <- begin_change(path, options)
  on.exit(.Call(C_change_end, change), add = TRUE)
  file <- open_file(path, functions)
  on.exit(close_file(file), add = TRUE)
  whole <- updated(list_of(file), values, unique(remove), file)
  write_value(whole, path, functions, options, change, OPERATION$update)
  invisible()
}

check_values <- function(values) {
  if (typeof(values) != "list" || is.object(values) || isS4(values)) must_be("values", "a named list", values)
  names <- names_of(values)
  if (length(values) > 0L && (is.null(names) || anyNA(names) || !all(nzchar(names)))) {
    wrong("'values' has elements without a name")
  }
  if (anyDuplicated(names)) wrong("'values' has two elements '", names[anyDuplicated(names)], "'")
}

# The named list in a file of R.
list_of <- function(file) {
  refuse <- function(why) abort(
    "unsupported", paste0("not supported: ", why, " (file \"", file$path, "\")"), list(file = file$path)
  )
  if (!is_own_file(file)) {
    refuse("the file was not written by R, so its keys are changed from there, in Python by entasis.update()")
  }
  value <- if (is_tree(file)) read_tree(file)
  if (typeof(value) != "list") refuse("the file holds no list: write the value again")
  if (is.object(value) || isS4(value)) {
    refuse(
      paste0(
        "the file holds an object of class ", shown_class(oldClass(value)),
        ", not a plain list: read it, change it, and write it again"
      )
    )
  }
  if (!is.null(attr(value, "dim", exact = TRUE)) || length(value) > 0L && is.null(names_of(value))) {
    refuse("the list in the file has no names: read it, change it, and write it again")
  }
  value
}

# A list with other values. Elements keep their positions, and the list keeps its attributes.
updated <- function(old, values, remove, file) {
  attrs <- attributes(old)
  names <- if (length(old) > 0L) names_of(old) else character()
  set <- as.character(names_of(values))
  check_distinct(names, c(remove, set), file)
  gone <- match(remove, names)
  if (anyNA(gone)) wrong("the list has no element '", remove[is.na(gone)][1L], "' (file \"", file$path, "\")")
  kept <- setdiff(seq_along(names), gone)
  elements <- unclass_all(old)[kept]
  names <- names[kept]
  at <- match(set, names)
  is_new <- is.na(at)
  at[is_new] <- length(names) + seq_len(sum(is_new))
  elements[at] <- unclass_all(values)
  names <- c(names, set[is_new])
  if (length(names) > 0L || !is.null(names_of(old))) attrs["names"] <- list(names)
  decorate(elements, attrs)
}

# Refuses to choose among elements of the same name.
check_distinct <- function(names, wanted, file) {
  again <- intersect(wanted, names[duplicated(names)])
  if (length(again) > 0L) wrong("the list has several elements '", again[1L], "' (file \"", file$path, "\")")
}
