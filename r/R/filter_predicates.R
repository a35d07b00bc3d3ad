# Converts expressions of R to predicates of the core: nested lists with a name first
# (src/rust/src/filters.rs). NULL without an exact predicate. Arguments without a column are values.

predicate_of <- function(e, plan) {
  if (!is.language(e)) {
    return(if (is_flag(e)) list("constant", as.vector(e)))
  }
  if (is.symbol(e)) {
    column <- column_of(plan, e)
    return(if (!is.null(column) && column$kind == LOGICAL) list("compare", column$number, "==", TRUE))
  }
  name <- known_name(plan, e)
  if (!name %in% names(PREDICATES)) {
    return(NULL)
  }
  switch(name,
    "(" = predicate_of(e[[2L]], plan),
    "!" = joined("not", list(predicate_of(e[[2L]], plan))),
    "&" = joined("and", list(predicate_of(e[[2L]], plan), predicate_of(e[[3L]], plan))),
    "|" = joined("or", list(predicate_of(e[[2L]], plan), predicate_of(e[[3L]], plan))),
    is.na = missing_predicate(column_of(plan, e[[2L]])),
    "%in%" = member_predicate(column_of(plan, e[[2L]]), e[[3L]]),
    startsWith = , endsWith = affix_predicate(column_of(plan, e[[2L]]), e[[3L]], name),
    comparison_predicate(plan, name, e[[2L]], e[[3L]])
  )
}

is_flag <- function(x) is.logical(x) && length(x) == 1L && !is.object(x) && is.null(dim(x)) && !is.na(x)

# A chain such as a | b | c becomes one list.
joined <- function(name, parts) {
  if (any(vapply(parts, is.null, NA))) {
    return(NULL)
  }
  if (name == "not") {
    return(c(list(name), parts))
  }
  flat <- lapply(parts, function(part) if (identical(part[[1L]], name)) part[-1L] else list(part))
  c(list(name), unlist(flat, recursive = FALSE))
}

missing_predicate <- function(column) if (!is.null(column)) list("missing", column$number)

affix_predicate <- function(column, affix, name) {
  if (is.null(column) || column$kind != CHARACTER || !is_string(affix)) {
    return(NULL)
  }
  affix <- in_utf8(affix)
  if (!is.null(affix)) list(if (name == "startsWith") "starts" else "ends", column$number, affix)
}

FLIPPED <- c("==" = "==", "!=" = "!=", "<" = ">", "<=" = ">=", ">" = "<", ">=" = "<=")

comparison_predicate <- function(plan, op, left, right) {
  if (is.language(left) && !is.language(right)) {
    compare_with(column_of(plan, left), op, right)
  } else if (is.language(right) && !is.language(left)) {
    compare_with(column_of(plan, right), FLIPPED[[op]], left)
  }
}

# A column compared with a single value.
compare_with <- function(column, op, value) {
  if (is.null(column) || !is.atomic(value) || length(value) != 1L || !is.null(dim(value)) || isS4(value) || is.na(value)) {
    return(NULL)
  }
  if (column$kind >= DAYS) {
    return(compare_time(column, op, value))
  }
  literal <- literal_for(column, op, value)
  if (!is.null(literal)) list("compare", column$number, op, literal)
}

# The value as the core compares it with the column.
literal_for <- function(column, op, value) {
  is_number <- !is.object(value) && (is.numeric(value) || is.logical(value))
  is_equality <- op == "==" || op == "!="
  kind <- column$kind
  if (kind == LOGICAL) {
    if (is_number && (is.logical(value) || is_equality && value %in% 0:1)) as.logical(value)
  } else if (kind == INTEGER) {
    if (is_number) if (is.double(value)) as.double(value) else as.integer(value)
  } else if (kind == DOUBLE) {
    if (is_number) as.double(value)
  } else if (kind == CHARACTER || kind == CODES) {
    # R orders strings by the locale, and ordered factors by their levels.
    if (is_string(value) && (is_equality || column$ordered && kind == CODES)) in_utf8(value)
  } else if (kind == INTEGER64) {
    # bit64 cuts the fraction of a double.
    if (identical(oldClass(value), "integer64")) {
      list(as.character(value))
    } else if (is_number && !is.logical(value) && value == trunc(value) && abs(value) <= 2^53) {
      as.double(value)
    }
  }
}

# Strings in UTF-8 without attributes. NULL if R does not compare them as UTF-8.
in_utf8 <- function(x) {
  x <- as.vector(x)
  there <- x[!is.na(x)]
  encoding <- Encoding(there)
  is_ascii <- !is.na(iconv(there, "ASCII", "ASCII"))
  is_known <- is_ascii | encoding %in% c("UTF-8", "latin1") | encoding == "unknown" & l10n_info()[["UTF-8"]]
  utf8 <- enc2utf8(x)
  if (all(is_known) && all(validUTF8(utf8[!is.na(utf8)]))) utf8
}

# The most values on the right of `%in%` for which the core is asked.
MOST_MEMBERS <- 100000L

# column %in% table. A missing value in the table finds missing values of the column.
member_predicate <- function(column, table) {
  if (is.null(column) || is.language(table) || !is.atomic(table) || isS4(table) || length(table) > MOST_MEMBERS) {
    return(NULL)
  }
  if (is.factor(table)) table <- as.character(table)
  if (is.object(table)) {
    return(
      if (column$kind %in% c(DAYS, DAYS_INTEGER) && identical(oldClass(table), "Date")) date_members(column, table)
    )
  }
  table <- unique(as.vector(table))
  is_number <- is.numeric(table) || is.logical(table)
  fits <- switch(as.character(column$kind), "1" = is.logical(table), "2" = is_number, "3" = is_number && !anyNA(table),
    "6" = , "7" = is.character(table), FALSE)
  if (!fits) {
    return(NULL)
  }
  is_missing <- if (is.double(table)) is.na(table) & !is.nan(table) else is.na(table)
  members <- table[!is.na(table)]
  if (is.character(members)) members <- in_utf8(members)
  if (is.logical(members) && column$kind != LOGICAL) members <- as.integer(members)
  if (is.null(members)) NULL else list("in", column$number, any(is_missing), as.list(members))
}
