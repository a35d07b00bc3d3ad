# Columns that the core can test as R does: vectors of base R and integer64 without other classes.

# The column that an expression names, as a list of its number in the file, kind, class, attributes
# and whether its levels are ordered. NULL for other expressions and other columns.
column_of <- function(plan, e) {
  if (!is.symbol(e)) {
    return(NULL)
  }
  k <- match(as.character(e), plan$names)
  if (is.na(k)) {
    return(NULL)
  }
  key <- as.character(k)
  if (is.null(plan$columns[[key]])) plan$columns[[key]] <- list(tested_column(plan$file, plan$at[k]))
  plan$columns[[key]][[1L]]
}

tested_column <- function(file, k) {
  layout <- layout_of(file)
  k <- k - length(label_names(file))
  if (k < 1L) {
    return(NULL)
  }
  facts <- lapply(table_facts(file), `[`, layout$first[k] + 1)
  kind <- kinds_or_na(file, facts, 1L, look = FALSE)
  description <- layout$descriptions[[k]]
  is_vector <- is.null(description) || has_attributes_alone(description)
  if (is.na(kind) || !is_vector || !is_tested_kind(file, kind, facts)) {
    return(NULL)
  }
  of_kind <- if (kind > CHARACTER) implied(kind, facts$ordered > 0L, facts$zone)
  attrs <- if (is.null(description)) of_kind else in_session(file, interpret(file, lapply_pairs(file, description$attributes)))
  if (!identical(attrs[["class"]], of_kind[["class"]]) || any(c("dim", "dimnames", "tsp") %in% names(attrs))) {
    return(NULL)
  }
  if (kind >= SPAN && !(is_string(attrs$units) && attrs$units %in% names(DIFFTIME_SECONDS))) {
    return(NULL)
  }
  list(number = facts$number, kind = kind, class = attrs[["class"]], attrs = attrs, ordered = facts$ordered > 0L)
}

# Whether R compares a kind's values in their stored form.
is_tested_kind <- function(file, kind, facts) {
  is_plain <- facts$logical == "plain"
  if (!file$own) {
    return(is_plain && facts$physical %in% c("bool", "i8", "i16", "i32", "u8", "u16", "f32", "f64", "utf8"))
  }
  if (kind == CODES) {
    # is.na() is false for a level that is NA.
    levels <- describe_columns(file, facts$dictionary)
    return(levels$physical == "utf8" && levels$logical == "plain" && levels$n_missing == 0 && is_utf8_column(file, levels$number))
  }
  if (kind == CHARACTER) {
    return(is_plain && is_utf8_column(file, facts$number))
  }
  if (kind == INTEGER64) {
    return(is_plain && requireNamespace("bit64", quietly = TRUE))
  }
  kind %in% c(LOGICAL, INTEGER, DOUBLE) && is_plain || kind >= DAYS && kind <= SPAN_INTEGER
}

# Whether all strings of a column are UTF-8.
is_utf8_column <- function(file, number) !number %in% file$string_encodings$of
