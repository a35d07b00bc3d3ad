# Reads whole tables for verbs that are not lazy.

# The most values that a verb reads without a warning.
MOST_CELLS <- 1e6

# The whole frame for a verb that is not lazy.
collect_for <- function(x, verb) {
  cells <- prod(as.double(dim(x)))
  if (cells > MOST_CELLS) {
    warning(verb, "() reads all rows and columns that are left, ", shown_number(cells),
            " values: select columns or filter rows first, or call collect() before it", call. = FALSE)
  }
  x[]
}

collect.entasis_table <- function(x, ...) x[]

compute.entasis_table <- function(x, path = tempfile(fileext = ".entasis"), ...) {
  write_entasis(x[], path)
  entasis(path)
}

pull.entasis_table <- function(.data, var = -1, name = NULL, ...) {
  # dplyr selects among column names in a frame whose values are those names.
  names <- names(.data)
  named <- structure(as.list(names), names = names, class = "data.frame", row.names = 1L)
  var <- dplyr::pull(named, {{ var }})
  query <- query_of(.data)
  if (is.null(query)) {
    return(dplyr::pull(.data[], !!var, {{ name }}))
  }
  name <- rlang::enquo(name)
  if (!rlang::quo_is_null(name)) name <- dplyr::pull(named, !!name) else name <- NULL
  frame <- gather(select_names(query, unique(c(var, name))))
  dplyr::pull(frame, !!var, !!name)
}
