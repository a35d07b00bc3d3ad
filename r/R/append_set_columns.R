# Columns of the file that rows to append replace or add: columns of a wider type, of another form
# in the file, and new columns.

# How the columns of the file change before the rows are added; NULL if they stay. Reads the columns
# that are replaced.
columns_to_set <- function(file, fitted) {
  replaced <- which(!fitted$is_new & (fitted$grows | need_other_form(table_facts(file), fitted$new)))
  added <- which(fitted$is_new)
  if (length(replaced) + length(added) == 0L) {
    return(NULL)
  }
  if (is_vector_file(file)) {
    return(list())
  }
  at <- c(replaced, added)
  values <- c(whole_columns(file, replaced, fitted), lapply(fitted$new[added], earlier_values, file))
  forms <- forms_of_joined(values, fitted$new[at])
  from <- seq_along(fitted$new)
  from[at] <- seq_along(at)
  names <- fitted$names
  n <- file$facts$n_rows
  new <- decorate(
    values,
    list(
      names = if (is.null(names)) rep_len("", length(at)) else names[at], class = "data.frame",
      row.names = c(NA, -as.integer(n))
    )
  )
  # A level NA comes last, and a missing value first.
  reordered <- replaced[vapply(values[seq_along(replaced)], function(x) is.factor(x) && anyNA(levels(x)), NA)]
  list(
    final = final_columns(from, names, seq_along(from) %in% at, new, changed = names[reordered]), forms = forms,
    names = names[replaced],
    operation = if (length(replaced) > 0L) OPERATION$replace else OPERATION$add
  )
}

# All values of columns of the file, in the types of the fitted rows.
whole_columns <- function(file, which, fitted) {
  if (length(which) == 0L) {
    return(list())
  }
  facts <- table_facts(file)
  missing <- facts$n_missing == facts$n_values
  rules <- append_rules(file, FALSE, TRUE)
  Map(function(old, k) {
    fit_column(old, fitted$new[[k]], layout_of(file)$names[k], missing[k], rules)$old
  }, bare_columns(file, which, ALL_ROWS), which, USE.NAMES = FALSE)
}

earlier_values <- function(new, file) {
  n <- file$facts$n_rows
  if (is_frame_like(new)) filled(new, n, "", file) else missing_like(new, n)
}
