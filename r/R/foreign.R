# Columns that other hosts wrote, as R has such values; the table is in docs/fidelity.md.

foreign_vector <- function(reader, x, want) {
  facts <- want$facts
  kind <- want$kind
  if (kind == LIST || kind == NESTED || kind == BYTES) {
    x
  } else if (kind == CODES) {
    foreign_factor(reader, x, facts)
  } else if (kind == INSTANT) {
    decorate(x, implied(INSTANT, zone = if (is.na(facts$zone) || facts$zone == "") "UTC" else facts$zone))
  } else if (kind == SPAN && facts$logical == "time") {
    decorate(x, list(class = c("hms", "difftime"), units = "secs"))
  } else {
    decorate(x, implied(kind))
  }
}

# Levels are strings, each once; other hosts have values of any type, and Arrow also missing and equal ones.
foreign_factor <- function(reader, codes, facts) {
  levels <- levels_of(reader, facts$dictionary)
  # Its method makes strings of them.
  if (inherits(levels, "integer64") && !requireNamespace("bit64", quietly = TRUE)) {
    abort("unsupported", paste0("not supported: categories of column \"", facts$name, "\" are integers of 64 bits; install bit64"),
          list(file = reader$file$path, column = facts$name))
  }
  if (is.double(levels) && !is.object(levels) && any(abs(levels) > 2^53, na.rm = TRUE) &&
      describe_columns(reader$file, facts$dictionary)$physical %in% c("i64", "u64")) {
    abort("unsupported", paste0("not supported: categories of column \"", facts$name, "\" are integers beyond those of bit64; read other columns"),
          list(file = reader$file$path, column = facts$name))
  }
  levels <- as.character(levels)
  if (anyNA(levels) || anyDuplicated(levels)) {
    known <- unique(levels[!is.na(levels)])
    codes <- match(levels, known)[codes]
    levels <- known
  }
  attrs <- implied(CODES, facts$ordered > 0L)
  attrs[["levels"]] <- levels
  decorate(codes, attrs)
}

# Labels of rows: row names where R can have them, else columns in front. `names` of their columns, or integers, or NULL.
foreign_labels <- function(file, rows) {
  index <- check_map(file$host$index)
  if (is.null(index$kind)) {
    return(list())
  }
  kind <- string_of(index$kind)
  n <- file$facts$n_rows
  if (kind == "range") {
    start <- number_of(index$start)
    step <- number_of(index$step)
    last <- start + step * max(n - 1, 0)
    if (step != 1 || start != 0) {
      numbers <- start + step * (seq_len(n) - 1)
      if (all(abs(c(start, last)) < 2^31)) {
        return(list(row_names = as.integer(take_rows(numbers, rows))))
      }
      return(list(columns = list(index = take_rows(numbers, rows))))
    }
    return(list())
  }
  refs <- switch(kind, column = list(index$column), multi = index$columns, names = list(), nonsense("an index of kind ", kind))
  facts <- describe_columns(file, vapply(refs, number_of, 0))
  columns <- lapply(seq_along(refs), function(i) extra_values(file, facts$number[i], NULL, rows))
  names(columns) <- facts$name
  if (kind == "column") {
    labels <- columns[[1L]]
    plain <- is.null(attributes(labels)) && (is.character(labels) || is.integer(labels))
    if (plain && !anyNA(labels) && !anyDuplicated(labels)) {
      return(list(row_names = labels))
    }
  }
  list(columns = columns)
}
