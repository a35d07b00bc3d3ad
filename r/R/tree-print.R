# Printing a list of a file: an outline of its parts.

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
