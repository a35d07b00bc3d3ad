# Columns that other hosts wrote, as R has such values; the table is in docs/fidelity.md.

foreign_vector <- function(file, x, want) {
  facts <- want$facts
  switch(want$kind,
    NULL, NULL, NULL, NULL, NULL, NULL,
    x <- foreign_factor(file, x, facts),
    x <- decorate(x, implied(INTEGER64)),
    x <- decorate(x, implied(DAYS)), NULL,
    x <- decorate(x, implied(INSTANT, zone = if (is.na(facts$zone) || facts$zone == "") "UTC" else facts$zone)), NULL,
    x <- decorate(x, if (facts$logical == "time") list(class = c("hms", "difftime"), units = "secs") else implied(SPAN))
  )
  x
}

# Levels are strings, each once; other hosts have values of any type, and Arrow also missing and equal ones.
foreign_factor <- function(file, codes, facts) {
  levels <- as.character(extra_values(file, facts$dictionary))
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
  index <- file$host$index
  kind <- index$kind
  if (is.null(kind)) {
    return(list())
  }
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
  refs <- switch(kind, column = list(index$column), multi = index$columns, names = list(), stop("an index of kind ", kind))
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
