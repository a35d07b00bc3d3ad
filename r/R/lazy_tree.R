# Lazy lists: trees of values, or lists in them, whose parts are read when they are selected.

# A part of a file: lists as lazy lists, frames as lazy tables, other values as they are.
tree_part <- function(file, cell, name) {
  found <- interpret(file, look_at_cell(file, cell))
  if (found$kind == CELL_LIST || found$kind == CELL_MAP) {
    tree <- new.env(parent = emptyenv())
    # The cell numbers in `found` are valid for this file only.
    file$is_held <- TRUE
    tree$file <- file
    tree$name <- name
    tree$found <- found
    return(lazy_object(tree, "entasis_tree"))
  }
  if (found$kind == CELL_TABLE) {
    table <- interpret(file, view_of(file, found$integer))
    if (!identical(table$host$form, "vector")) {
      layout_of(table)
      return(lazy_frame(table))
    }
  }
  read_cell(file, cell)
}

# The value of a file as a lazy list; NULL if it is not a list.
tree_part_or_null <- function(file) {
  found <- interpret(file, look_at_cell(file, file$facts$root))
  if (found$kind == CELL_LIST || found$kind == CELL_MAP) tree_part(file, file$facts$root, "x")
}

read_cell <- function(file, cell) interpret(file, read_cells(file, cell, cell + 1)[[1L]])

tree_of <- function(x) {
  tree <- lazy_content(x)
  handle_of(tree$file)
  tree
}

length.entasis_tree <- function(x) as.integer(tree_of(x)$found$count)

names.entasis_tree <- function(x) {
  tree <- tree_of(x)
  found <- tree$found
  if (found$kind != CELL_MAP) {
    return(NULL)
  }
  if (is.null(tree$names)) {
    keys <- if (found$count > 0) interpret(tree$file, read_cells(tree$file, found$keys, found$keys + found$count))
    tree$names <- vapply(keys, function(key) if (is.atomic(key) && length(key) == 1L) as.character(key) else "", "")
  }
  tree$names
}

# The positions of parts by names, numbers or a mask; NA for unknown names.
resolve_parts <- function(x, i) {
  n <- length(x)
  if (is.character(i)) {
    return(match(i, names(x)))
  }
  if (is.logical(i)) {
    if (anyNA(i) || length(i) != n) wrong("a mask of parts must have length ", n, " and no NA")
    return(which(i))
  }
  if (!is.numeric(i) || anyNA(i)) wrong("parts must be names or numbers, not ", what_is(i))
  if (length(i) > 0L && all(i < 0)) i <- seq_len(n)[i]
  if (any(i < 1 | i > n)) wrong("part numbers must be from 1 to ", n, ", not ", i[i < 1 | i > n][1L])
  trunc(i)
}

`[[.entasis_tree` <- function(x, i, ...) {
  if (length(i) != 1L) {
    if (length(i) == 0L) wrong("[[ must be given one part")
    # x[[c("a", "b")]] is x[["a"]][["b"]].
    return(x[[i[[1L]]]][[i[-1L]]])
  }
  tree <- tree_of(x)
  at <- resolve_parts(x, i)
  if (is.na(at)) wrong("there is no part '", i, "'")
  tree_part(tree$file, tree$found$first + at - 1, paste0(tree$name, if (is.character(i)) paste0("$", quoted(i)) else paste0("[[", at, "]]")))
}

`$.entasis_tree` <- function(x, name) {
  if (name %in% names(x)) x[[name]]
}

# Reads some parts.
`[.entasis_tree` <- function(x, i) {
  if (missing(i)) {
    return(as.list(x))
  }
  tree <- tree_of(x)
  at <- resolve_parts(x, i)
  if (anyNA(at)) wrong("there is no part '", i[is.na(at)][1L], "'")
  values <- lapply(tree$found$first + at - 1, function(cell) read_cell(tree$file, cell))
  names <- names(x)
  if (!is.null(names)) names(values) <- names[at]
  values
}

as.list.entasis_tree <- function(x, ...) {
  tree <- tree_of(x)
  read_cell(tree$file, tree$found$number)
}
