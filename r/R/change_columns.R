# Changes the columns of the data frame in a file. docs/guides/changes.md has the rules.

drop_columns_entasis <- function(path, columns, durable = NULL, wait = 10, compact = FALSE, key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  force(columns)
  check_flag(compact, "compact")
  change_columns(path, OPERATION$drop, change_options(durable, wait), function(file) {
    names <- layout_of(file)$names
    dropped <- unique(resolve_columns(frame_names(file), columns))
    kept <- setdiff(seq_along(layout_of(file)$first), dropped)
    final_columns(kept, names[kept], changed = names[dropped], set = function(x) {
      x[dropped] <- NULL
      x
    })
  })
  if (compact) compact_file(path, durable, wait)
  invisible()
}

rename_columns_entasis <- function(path, columns, durable = NULL, wait = 10, key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  new <- as.character(names(columns))
  is_named <- is.character(columns) && !anyNA(columns) && length(new) == length(columns) && !anyNA(new) && all(nzchar(new))
  if (!is_named) {
    must_be(
      "columns",
      "a character vector of old names with the new names as its names, such as c(euros = \"price\")", columns
    )
  }
  change_columns(path, OPERATION$rename, change_options(durable, wait), function(file) {
    before <- layout_of(file)$names
    at <- resolve_columns(before, unname(columns))
    if (anyDuplicated(at)) wrong("column '", before[at[anyDuplicated(at)]], "' gets two names")
    after <- before
    after[at] <- new
    again <- new[duplicated(after)[at] | duplicated(after, fromLast = TRUE)[at]]
    if (length(again) > 0L) wrong("two columns would have the name '", again[1L], "' (file \"", file$path, "\")")
    final_columns(seq_along(after), after, renamed = structure(new, names = before[at]), set = function(x) {
      names(x) <- after
      x
    })
  })
}

add_columns_entasis <- function(x, path, compress = NULL, threads = NULL, durable = NULL, wait = 10, edition = NULL,
                                key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  check_order("add_columns_entasis", "x", x, path)
  x <- new_columns(x)
  change_columns(path, OPERATION$add, change_options(durable, wait, compress, threads, edition), function(file) {
    names <- layout_of(file)$names
    check_rows(file, x)
    again <- intersect(names_of(x), names)
    if (length(again) > 0L) {
      wrong_column(file, again[1L], "the file has a column ", listed(again), " already: use replace_columns_entasis()")
    }
    n_old <- length(layout_of(file)$first)
    after <- c(if (is.null(names)) rep_len("", n_old) else names, names_of(x))
    is_new <- rep(c(FALSE, TRUE), c(n_old, length_of(x)))
    final_columns(c(seq_len(n_old), seq_len(length_of(x))), after, is_new, x)
  })
}

replace_columns_entasis <- function(x, path, compress = NULL, threads = NULL, durable = NULL, wait = 10, edition = NULL,
                                    key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  check_order("replace_columns_entasis", "x", x, path)
  x <- new_columns(x)
  change_columns(path, OPERATION$replace, change_options(durable, wait, compress, threads, edition), function(file) {
    names <- layout_of(file)$names
    check_rows(file, x)
    unknown <- setdiff(names_of(x), names)
    if (length(unknown) > 0L) {
      wrong_column(file, unknown[1L], "the file has no column ", listed(unknown), ": use add_columns_entasis()")
    }
    from <- seq_along(names)
    at <- match(names_of(x), names)
    from[at] <- seq_along(at)
    final_columns(from, names, seq_along(names) %in% at, x, changed = names_of(x))
  })
}

# Columns to store, as a frame.
new_columns <- function(x) {
  x <- read_lazy(x)
  if (!is_frame(x)) must_be("x", "a data frame", x)
  names <- names_of(x)
  if (length_of(x) > 0L && (is.null(names) || anyNA(names) || !all(nzchar(names)))) {
    wrong("columns of 'x' have no names")
  }
  if (anyDuplicated(names)) wrong("'x' has two columns '", names[anyDuplicated(names)], "'")
  x
}

check_rows <- function(file, x) {
  n <- c(file$facts$n_rows, .row_names_info(x, 2L))
  if (n[1L] != n[2L]) {
    wrong(
      "'x' has ", shown_number(n[2L]), if (n[2L] == 1) " row" else " rows", ", and the file ",
      shown_number(n[1L]), " (file \"", file$path, "\")"
    )
  }
}

# Describes the columns of a frame after a change.
#
# from     positions of the columns in the file, or in `new` where `is_new` is TRUE
# changed  names of the columns that are dropped or replaced
# renamed  new names, named by the old ones
# set      a function that makes the same change to a frame in memory
final_columns <- function(from, names, is_new = logical(length(from)), new = NULL, changed = character(), renamed = character(),
                          set = function(x) set_columns(x, new)) {
  list(from = from, names = names, is_new = is_new, new = new, changed = changed, renamed = renamed, set = set)
}

set_columns <- function(x, new) {
  bare <- decorate(
    unclass_all(new),
    list(names = names_of(new), class = "data.frame", row.names = c(NA, -.row_names_info(new, 2L)))
  )
  x[names_of(new)] <- bare
  x
}

# Changes the columns of the file at a path. `decide` gets the file and returns `final_columns()`.
change_columns <- function(path, operation, options, decide) {
  path <- check_path(path)
  change <- begin_change(path, options)
  on.exit(.Call(C_change_end, change))
  file <- open_file(path)
  on.exit(close_file(file), add = TRUE)
  check_has_frame(file)
  final <- decide(file)
  if (!set_columns_in_place(file, final, change, operation, options)) {
    write_value(final_frame(value_of(file), final, file), path, FALSE, options, change, operation)
  }
  invisible()
}

# Refuses files that do not hold a data frame of R.
check_has_frame <- function(file) {
  if (file$own && identical(file$host$form, "data.frame")) {
    return(invisible())
  }
  why <- if (file$own || is_tree(file) && isTRUE(file$facts$is_own)) "the file holds no data frame" else
    "the file was not written by R, so its columns are changed from there, in Python by functions such as entasis.drop_columns()"
  abort("unsupported", paste0("not supported: ", why, " (file \"", file$path, "\")"), list(file = file$path))
}
