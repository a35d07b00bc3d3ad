# summarise() of dplyr for many rows, by blocks of rows, so that memory is bounded. Only for counts,
# sums of integers, minima and maxima: the results of the blocks determine the result of all rows
# exactly. dplyr summarises each block, and then the blocks together.

BLOCK_ROWS <- 2^20

# A frame with a row for each group, and the arguments with which summarise() makes the result from
# it. NULL if the rows are few, or if an argument or a column of the groups is of another kind.
summarised_blocks <- function(query, arguments, block_rows = BLOCK_ROWS) {
  groups <- group_names(query)
  n <- count_of_query(query)
  if (n <= 4 * block_rows || length(arguments) == 0L || !has_plain_groups(query)) {
    return(NULL)
  }
  parts <- lapply(arguments, block_part, query)
  used <- unique(unlist(lapply(parts, `[[`, "column")))
  names <- names(rlang::quos_auto_name(arguments))
  # A later argument would use a result with the name of a column instead of the column.
  if (any(vapply(parts, is.null, NA)) || anyDuplicated(names) || any(names %in% c(used, groups))) {
    return(NULL)
  }
  keys <- sprintf(" part %d", seq_along(parts))
  in_base <- function(expressions) lapply(structure(expressions, names = keys), rlang::new_quosure, baseenv())
  of_block <- in_base(lapply(parts, `[[`, "of_block"))
  of_blocks <- in_base(Map(function(part, key) call(part$name, as.name(key)), parts, keys))
  grouped <- function(frame) if (length(groups) > 0L) dplyr::group_by(frame, !!!rlang::syms(groups)) else frame
  narrow <- select_names(query, used)
  # After a warning, dplyr gets all rows at once, so that the warnings are about all rows.
  frame <- tryCatch({
    blocks <- lapply(seq(0, n - 1, by = block_rows), function(start) {
      dplyr::summarise(
        some_of_query(narrow, start + seq_len(min(block_rows, n - start))), !!!of_block, .groups = "drop"
      )
    })
    dplyr::summarise(grouped(dplyr::bind_rows(blocks)), !!!of_blocks, .groups = "drop")
  }, error = function(e) NULL, warning = function(w) NULL)
  if (is.null(frame)) {
    return(NULL)
  }
  for (key in keys[vapply(parts, function(part) part$name == "sum", NA)]) {
    # Sums beyond the integers are NA with a warning.
    if (any(abs(frame[[key]]) > .Machine$integer.max, na.rm = TRUE)) {
      return(NULL)
    }
    frame[[key]] <- as.integer(frame[[key]])
  }
  list(frame = grouped(frame), arguments = structure(lapply(keys, as.name), names = names))
}

# Whether the frame has no other attributes, and its groups are vectors of base R.
has_plain_groups <- function(query) {
  parts <- lazy_content(query)
  is_plain <- all(names(attributes(parts$skeleton)) %in% c("names", "class", "row.names", "groups")) &&
    !inherits(parts$skeleton, "data.table") && !has_empty_groups(query)
  is_plain && all(vapply(parts$at[match(group_names(query), names(query))], function(k) {
    column <- tested_column(parts$file, k)
    !is.null(column) && column$kind %in% c(LOGICAL, INTEGER, DOUBLE, CHARACTER, CODES, DAYS) && all(names(column$attrs) %in% c("class", "levels"))
  }, NA))
}

# The expression to compute for a block, and the function that joins the blocks' values. NULL unless
# the expression is n(), or sum(), min() or max() of a column.
block_part <- function(argument, query) {
  e <- rlang::quo_get_expr(argument)
  env <- rlang::quo_get_env(argument)
  if (identical(e, quote(dplyr::n())) || identical(e, quote(n())) && identical(get0("n", env, mode = "function"), dplyr::n)) {
    return(list(name = "sum", of_block = quote(dplyr::n())))
  }
  name <- if (is.call(e)) called_name(e) else ""
  is_known <- name %in% c("sum", "min", "max") && is.symbol(e[[1L]]) && is_of_base(name, env) && length(e) %in% 2:3
  if (!is_known || !is.symbol(e[[2L]]) || !is.null(names(e)) && names(e)[2L] != "") {
    return(NULL)
  }
  if (length(e) == 3L && !(identical(names(e)[3L], "na.rm") && is_flag(e[[3L]]))) {
    return(NULL)
  }
  parts <- lazy_content(query)
  k <- match(as.character(e[[2L]]), names(query))
  column <- if (!is.na(k)) tested_column(parts$file, parts$at[k])
  if (is.null(column) || length(column$attrs) > 0L || !column$kind %in% c(INTEGER, if (name == "sum") LOGICAL else DOUBLE)) {
    return(NULL)
  }
  if (name == "sum") e[[2L]] <- call("as.double", e[[2L]])
  list(name = name, of_block = e, column = names(query)[k])
}
