# Calls in conditions whose meaning is known: functions of base R that no other function masks.

COMPARISONS <- c("==", "!=", "<", "<=", ">", ">=")

# Functions with predicates, and their numbers of arguments.
PREDICATES <- c("(" = 1L, "!" = 1L, "&" = 2L, "|" = 2L, is.na = 1L, "%in%" = 2L, startsWith = 2L, endsWith = 2L,
                "==" = 2L, "!=" = 2L, "<" = 2L, "<=" = 2L, ">" = 2L, ">=" = 2L)

# Other functions whose value for a row depends on that row alone, if the arguments are vectors
# without a class. ifelse(), as.Date() and format() are not: they look at all values.
BY_ROW <- c("xor", "+", "-", "*", "/", "^", "%%", "%/%", "is.nan", "is.finite", "is.infinite", "abs", "sign", "sqrt", "exp", "log",
            "floor", "ceiling", "trunc", "round", "nchar", "tolower", "toupper", "substr", "grepl", "as.integer", "as.numeric", "as.character")

# The name of the known function that an expression calls, or "".
known_name <- function(plan, e) {
  if (!is.call(e) || !is.symbol(e[[1L]])) {
    return("")
  }
  name <- as.character(e[[1L]])
  arity <- PREDICATES[name]
  is_listed <- if (is.na(arity)) name %in% BY_ROW else length(e) == arity + 1L && is.null(names(e))
  is_whole <- !any(vapply(as.list(e)[-1L], identical, NA, quote(expr = )))
  if (is_listed && is_whole && is_of_base(name, plan$caller)) name else ""
}

is_known_call <- function(plan, e, name) identical(known_name(plan, e), name)

# Whether an expression names a column.
names_columns <- function(plan, e) any(all.vars(e) %in% plan$names)

# A condition with values in place of the arguments of known calls that name no column. Each such
# argument is evaluated once, with the columns visible: get("price") is the column.
with_values <- function(plan, e) {
  if (!is.language(e)) {
    return(e)
  }
  if (!names_columns(plan, e)) {
    value <- eval(e, plan$scope)
    return(if (is.language(value)) call("quote", value) else value)
  }
  if (known_name(plan, e) != "") {
    for (i in seq_along(e)[-1L]) e[i] <- list(with_values(plan, e[[i]]))
  }
  e
}

# Whether R can evaluate a part of a condition on some rows: it has only functions that treat each
# row by itself, columns whose class is known, and single values.
is_by_row <- function(e, plan) {
  if (!is.language(e)) {
    return(is.atomic(e) && length(e) == 1L && is.null(dim(e)))
  }
  if (is.symbol(e)) {
    column <- column_of(plan, e)
    return(!is.null(column) && is.null(column$class))
  }
  name <- known_name(plan, e)
  arguments <- as.list(e)[-1L]
  if (name == "" || name == "grepl" && is.language(arguments[[1L]])) {
    return(FALSE)
  }
  if (name == "is.na" || name %in% COMPARISONS) {
    # Methods of the classes compare each row with a single value.
    has_class <- vapply(arguments, function(argument) !is.null(column_of(plan, argument)$class), NA)
    if (any(has_class)) return(sum(has_class) == 1L && all(vapply(arguments[!has_class], is_single, NA)))
  }
  if (name == "%in%") {
    return(
      !is.language(arguments[[2L]]) && (!is.null(column_of(plan, arguments[[1L]])) || is_by_row(arguments[[1L]], plan))
    )
  }
  all(vapply(arguments, is_by_row, NA, plan = plan))
}

is_single <- function(x) is.atomic(x) && length(x) == 1L && is.null(dim(x))
