# The columns that a call of `[` on a table of data.table names. NULL means all.

# The columns that `j` and `by` name.
columns_of_call <- function(query) {
  given <- query$given
  if (!"j" %in% names(given) || anyDuplicated(query$names) > 0L || anyNA(query$names)) {
    return(NULL)
  }
  by <- given[["keyby"]]
  if (is.null(by)) by <- given[["by"]]
  names_by <- names_of_by(query, by)
  names_sd <- names_of_sd(query)
  if (finds_columns(given$j, by) || is.null(names_by) || is.null(names_sd)) {
    return(NULL)
  }
  query$is_grouped <- length(columns_named(query, names_by)) > 0L
  used <- c(all.names(given$j), names_by, names_sd)
  columns_named(query, used)
}

# The positions of columns by names in a call. `x.name` is a column of `x` in a join.
columns_named <- function(query, used) which(query$names %in% c(used, sub("^x[.]", "", used)))

# The names in `by`, or NULL if they are unknown.
names_of_by <- function(query, by) {
  if (is.null(by)) {
    return(character())
  }
  if (is.symbol(by) && !as.character(by) %in% query$names) {
    by <- tryCatch(eval(by, query$caller), error = function(e) NULL)
    if (is.null(by)) return(character())
  }
  head <- head_of(by)
  if (head == ":" || head == "" && is.call(by)) {
    return(NULL)
  }
  if (head %in% c("c", "key", "names", "intersect", "setdiff")) {
    by <- tryCatch(eval(by, query$caller), error = function(e) NULL)
  }
  if (is.character(by)) {
    # data.table takes several names in one string, and names in backticks.
    return(c(by, gsub("`", "", unlist(strsplit(by, ",", fixed = TRUE)), fixed = TRUE)))
  }
  if (is.language(by)) all.names(by)
}

# The names of `.SD` in `j`: none if it is not used, NULL if they are unknown.
names_of_sd <- function(query) {
  if (!".SD" %in% all.names(query$given$j)) {
    return(character())
  }
  columns <- query$given$.SDcols
  if (is.symbol(columns) || head_of(columns) == "c" && !any(all.names(columns)[-1L] %in% c("-", "!", ":"))) {
    columns <- tryCatch(eval(columns, query$caller), error = function(e) NULL)
  }
  if (is.character(columns)) columns
}

# The positions of all columns to read.
columns_to_read <- function(query, chosen) {
  all <- seq_along(query$names)
  columns <- query$columns
  if (is.null(columns) || is.null(chosen$columns)) {
    return(all)
  }
  key <- query$key
  if (!is_selection(query) && (chosen$may_join || may_have_key(query, key))) {
    columns <- c(columns, match(key, query$names))
  }
  sort(unique(c(columns, chosen$columns)))
}

# Whether the table must lose its key: `j` would keep the key's first columns, but data.table drops
# the whole key.
loses_key <- function(query, columns) {
  "j" %in% names(query$given) && !isTRUE(query$is_grouped) && !is_selection(query) && !all(query$key %in% query$names[columns])
}

# Functions of base R whose value is a vector, for vectors.
VECTOR_FUNCTIONS <- c("sum", "mean", "min", "max", "length", "range", "unique", "rev", "+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">=",
                      "paste", "paste0", "cumsum", "round")

is_vector_call <- function(query, e) head_of(e) %in% VECTOR_FUNCTIONS && is_of_base(head_of(e), query$caller)

# Whether the result of `j` may keep the key: a table without groups that has all columns of the
# key.
may_have_key <- function(query, key) {
  j <- query$given$j
  if (is.null(key) || isTRUE(query$is_grouped) || !is.call(j) || is_vector_call(query, j)) {
    return(FALSE)
  }
  if (!head_of(j) %in% c(".", "list")) {
    return(TRUE)
  }
  parts <- as.list(j)[-1L]
  labels <- if (is.null(names(parts))) rep_len("", length(parts)) else names(parts)
  is_symbol <- vapply(parts, is.symbol, NA)
  is_unnamed <- labels == ""
  labels[is_unnamed] <- paste0("V", which(is_unnamed))
  labels[is_unnamed & is_symbol] <- vapply(parts[is_unnamed & is_symbol], as.character, "")
  # Other calls may return a table with new column names.
  is_vector <- is_symbol | vapply(parts, function(part) is_vector_call(query, part), NA)
  !all(is_vector) || all(key %in% labels)
}

# Replaces `j` by the names of its columns. Returns the result of data.table for no rows. NULL after
# an error, which data.table repeats after any error in `i`.
select_columns <- function(query) {
  names <- query$names
  none <- read_frame(query$file, seq_along(names), row_range(0, 0, -1))
  given <- query$given[intersect(names(query$given), c("j", "with"))]
  found <- tryCatch(evaluate_on(none, given, query$caller), error = function(e) NULL)
  if (is.null(found)) {
    return(NULL)
  }
  query$given$j <- names(found)
  query$given$with <- FALSE
  query$columns <- sort(unique(match(names(found), names)))
  found
}
