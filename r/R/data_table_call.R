# The call of `[` on a table of data.table: its arguments, and what can't be done with a file.

# The unevaluated arguments, by name. NULL for arguments from `...`, or that data.table does not
# have.
table_arguments <- function(call) {
  if (length(call) == 2L || any(vapply(as.list(call), is_passed_on, NA))) {
    return(if (length(call) == 2L) list())
  }
  method <- getS3method("[", "data.table", envir = asNamespace("data.table"))
  tryCatch(as.list(match.call(method, call))[-(1:2)], error = function(e) NULL)
}

is_passed_on <- function(e) is.symbol(e) && !identical(e, quote(expr = )) && grepl("^[.][.]([.]|[0-9]+)$", as.character(e))

# The arguments with a table in place of a file in `i`: x[y], x[!y] and x[entasis(path)].
with_files_read <- function(given, caller) {
  i <- given[["i"]]
  is_not <- is_call_of(i, "!") && length(i) == 2L
  named <- if (is_not) i[[2L]] else i
  value <- if (is.symbol(named)) get0(as.character(named), envir = caller) else if (is_call_of(named, "entasis")) eval(named, caller)
  if (inherits(value, "entasis_table")) given$i <- if (is_not) call("!", value[]) else value[]
  given
}

# `:=` would change the rows that were read, and not the file.
refuse_assignment <- function(j) {
  while (is_call_of(j, "{") && length(j) > 1L) j <- j[[2L]]
  if (is_call_of(j, c(":=", "let"))) {
    wrong("`:=` can't change the table of a file: use replace_columns_entasis() or add_columns_entasis() for columns, ",
          "append_entasis() for rows, or read the table with x[] and change that")
  }
}

# Functions that find columns which a call does not name.
FINDING <- c("get", "mget", "get0", "exists", "eval", "evalq", "eval.parent")

finds_columns <- function(...) any(vapply(list(...), function(e) any(FINDING %in% all.names(e)), NA))

# Whether `j` chooses columns as with = FALSE: names, numbers, a range or `..columns`.
is_selection <- function(query) {
  given <- query$given
  if (!"j" %in% names(given) || is.null(given$j)) {
    return(FALSE)
  }
  if (!is_with(query)) {
    return(TRUE)
  }
  j <- given$j
  head <- head_of(j)
  if (head == ":" || head %in% c("-", "!") && is_call_of(j[[2L]], "(") && is_call_of(j[[2L]][[2L]], ":")) {
    return(TRUE)
  }
  variables <- all.vars(j)
  is_plain <- !is.call(j) || head %in% c("c", "paste", "paste0", "-", "!")
  is_plain && all(startsWith(variables, "..")) && !any(c("by", "keyby") %in% names(given))
}

# The argument `with`.
is_with <- function(query) {
  with <- query$given[["with"]]
  is.null(with) || !isFALSE(tryCatch(eval(with, query$caller), error = function(e) TRUE))
}
