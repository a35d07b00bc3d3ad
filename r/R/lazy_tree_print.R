# Prints lazy lists, as an outline of their parts.

print.entasis_tree <- function(x, ...) {
  tree <- tree_of(x)
  cat("<entasis file> ", tree$file$path, "\n", sep = "")
  cat(outline(x, tree$name, 0L, 2L), sep = "\n")
  invisible(x)
}

str.entasis_tree <- function(object, ...) print(object)

# A line for each part, with its type.
outline <- function(x, name, level, depth, most = 20L) {
  n <- length(x)
  head <- paste0(strrep("  ", level), name, ": list of ", shown_number(n))
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
    paste0(strrep("  ", level + 1L), label, ": ", describe_cell(tree$file, found))
  })
  c(head, unlist(lines), if (n > most) paste0(strrep("  ", level + 1L), "... ", n - most, " more"))
}

# A short description of a cell; for a scalar, its value.
describe_cell <- function(file, found) {
  kind <- found$kind
  if (kind == CELL_TABLE) {
    facts <- view_of(file, found$integer)$facts
    return(paste0("frame of ", counted(facts$n_rows, "row"), ", ", counted(facts$n_columns, "column")))
  }
  if (kind >= CELL_ARRAY) {
    return(paste(vector_type(file, found), "vector of", shown_number(found$count)))
  }
  if (kind == CELL_OBJECT) {
    return(object_class(file, found))
  }
  if (kind < CELL_LIST) {
    shown <- tryCatch(paste(deparse(read_cell(file, found$number)), collapse = " "), error = function(e) "value")
    return(if (nchar(shown) > 60L) paste0(substr(shown, 1L, 57L), "...") else shown)
  }
  "list"
}

# The type of an array, without reading values.
vector_type <- function(file, found) {
  in_session(file, {
    loaded <- core(.Call(C_load, handle_of(file), int64_code(file)))[[1L]]
    on.exit(.Call(C_unload, loaded))
    number <- core(.Call(C_close, loaded, found$number, found$number + 1))$column[1L]
    whole <- view_of(file, -1)
    whole$own <- isTRUE(file$facts$is_own)
    facts <- describe_columns(whole, number)
    kind <- reading_kinds(whole, facts, 1L)
    close_file(whole)
    names(KIND_LABELS)[match(kind, KIND_LABELS)]
  })
}

KIND_LABELS <- c(
  lgl = LOGICAL, int = INTEGER, dbl = DOUBLE, cpl = COMPLEX, raw = RAW, chr = CHARACTER, fct = CODES,
  int64 = INTEGER64, date = DAYS,
  date = DAYS_INTEGER, dttm = INSTANT, dttm = INSTANT_INTEGER, drtn = SPAN, drtn = SPAN_INTEGER, list = LIST,
  list = BYTES, list = NESTED
)

# The class of an object of R, from the map of its attributes; for other objects their name in the
# file.
object_class <- function(file, found) {
  name <- read_cell(file, found$first)
  if (!is.character(name) || length(name) != 1L) {
    return("object")
  }
  if (name != "r.vector") {
    return(sub("^r[.]", "", cut_text(name, 40L)))
  }
  attributes <- look_at_cell(file, found$first + 2)
  keys <- if (attributes$kind == CELL_MAP && attributes$count > 0) read_cells(file, attributes$keys, attributes$keys + attributes$count)
  at <- match("class", vapply(keys, function(key) if (is.character(key) && length(key) == 1L) key else "", ""))
  if (!is.na(at)) {
    class <- read_cell(file, attributes$first + at - 1)
    if (is.character(class) && length(class) > 0L) {
      return(cut_text(class[1L], 40L))
    }
  }
  vector <- look_at_cell(file, found$first + 1)
  type <- if (vector$kind >= CELL_ARRAY) vector_type(file, vector) else if (vector$kind == CELL_LIST || vector$kind == CELL_MAP) "list"
  if (is.null(type)) "object" else paste(type, "with attributes")
}
