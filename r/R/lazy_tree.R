# Lazy lists: trees of values, or lists in them, whose parts are read when they are selected.

# A part of a file: a list as a lazy list, a frame as a lazy table, other values unchanged.
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

`[[.entasis_tree` <- function(x, i, ..., exact = TRUE) {
  if (length(i) != 1L) {
    if (length(i) == 0L) wrong("[[ must be given one part")
    # x[[c("a", "b")]] is x[["a"]][["b"]].
    return(x[[i[[1L]]]][[i[-1L]]])
  }
  at <- resolve_position(names_of_parts(x), i, "part", exact)
  if (is.null(at)) wrong("there is no part '", i, "'")
  part_of_tree(x, at, if (is.character(i)) names(x)[at])
}

`$.entasis_tree` <- function(x, name) {
  at <- resolve_position(names_of_parts(x), name, "part", exact = FALSE)
  if (!is.null(at)) part_of_tree(x, at, names(x)[at])
}

# A part by its position; also its name if selected by name.
part_of_tree <- function(x, at, name) {
  tree <- tree_of(x)
  tree_part(
    tree$file, tree$found$first + at - 1,
    paste0(tree$name, if (is.null(name)) paste0("[[", at, "]]") else paste0("$", quoted(name)))
  )
}

# A name for each part, NA if the list has no names.
names_of_parts <- function(x) {
  names <- names(x)
  if (is.null(names)) rep_len(NA_character_, length(x)) else names
}

# Reads some parts.
`[.entasis_tree` <- function(x, i) {
  if (missing(i)) {
    return(as.list(x))
  }
  tree <- tree_of(x)
  at <- resolve_positions(names_of_parts(x), i, "part")
  values <- lapply(tree$found$first + at - 1, function(cell) read_cell(tree$file, cell))
  names <- names(x)
  if (!is.null(names)) names(values) <- names[at]
  values
}

as.list.entasis_tree <- function(x, ...) {
  tree <- tree_of(x)
  read_cell(tree$file, tree$found$number)
}
