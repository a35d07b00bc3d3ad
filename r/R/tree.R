# A file that holds a tree of values, or a list in it, of which parts are read when they are asked for.

# A part of a file: lists as trees, frames as tables, other values as they are.
tree_part <- function(file, cell, name) {
  found <- interpret(file, look_at_cell(file, cell))
  if (found$kind == CELL_LIST || found$kind == CELL_MAP) {
    tree <- new.env(parent = emptyenv())
    tree$file <- file
    tree$name <- name
    tree$found <- found
    return(structure(list(tree), class = "entasis_tree"))
  }
  if (found$kind == CELL_TABLE) {
    table <- interpret(file, view_of(file, found$integer))
    if (!identical(table$host$form, "vector")) {
      layout_of(table)
      return(structure(list(table), class = "entasis_table"))
    }
  }
  read_cell(file, cell)
}

# The whole of a file as a tree, where it is a list.
tree_part_or_null <- function(file) {
  found <- interpret(file, look_at_cell(file, file$facts$root))
  if (found$kind == CELL_LIST || found$kind == CELL_MAP) tree_part(file, file$facts$root, "x")
}

read_cell <- function(file, cell) interpret(file, read_cells(file, cell, cell + 1)[[1L]])

tree_of <- function(x) {
  tree <- .subset2(x, 1L)
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

# The positions of parts that are asked for by name or number; NA where there is none of a name.
resolve_parts <- function(x, i) {
  n <- length(x)
  if (is.character(i)) {
    return(match(i, names(x)))
  }
  if (is.logical(i)) {
    if (anyNA(i) || length(i) != n) wrong("a mask of parts is of length ", n)
    return(which(i))
  }
  if (!is.numeric(i) || anyNA(i)) wrong("parts are names or numbers")
  if (length(i) > 0L && all(i < 0)) i <- seq_len(n)[i]
  if (any(i < 1 | i > n)) wrong("part ", i[i < 1 | i > n][1L], " of ", n, " is asked for")
  trunc(i)
}

`[[.entasis_tree` <- function(x, i, ...) {
  if (length(i) != 1L) {
    if (length(i) == 0L) wrong("one part is asked for with [[")
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

# Some of the parts, read.
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

`[<-.entasis_tree` <- refuse_change
`[[<-.entasis_tree` <- refuse_change
`$<-.entasis_tree` <- refuse_change

print.entasis_tree <- function(x, ...) {
  tree <- tree_of(x)
  cat("<entasis file> ", tree$file$path, "\n", sep = "")
  cat(outline(x, tree$name, 0L, 2L), sep = "\n")
  invisible(x)
}

str.entasis_tree <- function(object, ...) print(object)

# A line for each part, with what it is.
outline <- function(x, name, level, depth, most = 20L) {
  n <- length(x)
  head <- paste0(strrep("  ", level), name, ": list of ", format(n, big.mark = ","))
  if (level >= depth || n == 0L) {
    return(head)
  }
  tree <- tree_of(x)
  shown <- seq_len(min(n, most))
  names <- names(x)
  lines <- lapply(shown, function(i) {
    label <- if (is.null(names)) paste0("[[", i, "]]") else paste0("$", quoted(names[i]))
    found <- look_at_cell(tree$file, tree$found$first + i - 1)
    if (found$kind == CELL_LIST || found$kind == CELL_MAP) {
      return(outline(tree_part(tree$file, tree$found$first + i - 1, label), label, level + 1L, depth, most))
    }
    paste0(strrep("  ", level + 1L), label, ": ", told_kind(tree$file, found))
  })
  c(head, unlist(lines), if (n > most) paste0(strrep("  ", level + 1L), "... ", n - most, " more"))
}

# What a cell is, in a few words; a value by itself is shown.
told_kind <- function(file, found) {
  kind <- found$kind
  if (kind == CELL_TABLE) {
    facts <- view_of(file, found$integer)$facts
    return(paste0("frame of ", format(facts$n_rows, big.mark = ","), " rows, ", facts$n_columns, " columns"))
  }
  if (kind >= 96L) {
    return(paste("vector of", format(found$count, big.mark = ",")))
  }
  if (kind == 77L) {
    return("object")
  }
  if (kind < 64L) {
    shown <- tryCatch(paste(deparse(read_cell(file, found$number)), collapse = " "), error = function(e) "value")
    return(if (nchar(shown) > 60L) paste0(substr(shown, 1L, 57L), "...") else shown)
  }
  "list"
}
