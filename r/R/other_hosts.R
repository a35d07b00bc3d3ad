# Converts columns of other hosts to values of R; docs/fidelity.md has the table.

# The vector of a request (`reader_want`), made of the values `x` of its column and the `levels` of
# a factor.
foreign_vector <- function(file, x, want, levels) {
  facts <- want$facts
  kind <- want$kind
  if (kind == LIST || kind == NESTED || kind == BYTES) {
    x
  } else if (kind == CODES) {
    foreign_factor(file, x, facts, levels)
  } else if (kind == INSTANT) {
    decorate(x, implied(INSTANT, zone = zone_shown(file, facts$zone, facts$name)))
  } else if (kind == SPAN && facts$logical == "time") {
    decorate(x, list(class = c("hms", "difftime"), units = "secs"))
  } else {
    decorate(x, implied(kind))
  }
}

# Levels of R are distinct strings. Categories of other hosts have any type, and categories of Arrow
# may be missing or equal.
foreign_factor <- function(file, codes, facts, levels) {
  # as.character() needs its method for integer64.
  if (inherits(levels, "integer64") && !requireNamespace("bit64", quietly = TRUE)) {
    abort("unsupported", paste0("not supported: categories of column \"", facts$name, "\" are 64-bit integers; install bit64"),
          list(file = file$path, column = facts$name))
  }
  if (is.double(levels) && !is.object(levels) && any(abs(levels) > 2^53, na.rm = TRUE) &&
      describe_columns(file, facts$dictionary)$physical %in% c("i64", "u64")) {
    abort("unsupported", paste0("not supported: categories of column \"", facts$name, "\" are integers beyond the range of bit64; read other columns"),
          list(file = file$path, column = facts$name))
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
