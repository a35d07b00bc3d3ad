# Conditions on the rows of a text as trees for the core (src/rust/src/csv/condition.rs). The class
# of a column follows from the type of all its values, which is not known while rows are tested. So
# each part of a condition has predicates by type.

# The names of the tested columns of the text, and the tree. NULL if the core can't test the whole
# condition. The columns `of` are called `names` in it. Each may have the kinds in `forms`, a vector
# by types.
csv_condition <- function(names, of, forms, condition, caller) {
  plan <- csv_plan(names, of, forms, condition, caller)
  tree <- csv_tree(plan, plan$condition)
  if (!is.null(tree)) list(columns = plan$tested, tree = tree)
}

# A condition with values in place of parts without a column, and the columns that are tested.
# `tested` are those of another condition, which keep their numbers.
csv_plan <- function(names, of, forms, condition, caller, tested = character()) {
  # A call of c() would read a column `c`, to see whether it is a function.
  hidden <- ifelse(names %in% called_names(condition), NA, names)
  scope <- scope_of(hidden, function(k) unknown_values(names[k]), caller)
  plan <- list2env(
    list(names = names, of = of, forms = forms, caller = caller, scope = scope, columns = list(), tested = tested),
    parent = emptyenv()
  )
  plan$condition <- with_values(plan, condition)
  plan
}

unknown_values <- function(name) wrong(
  "the values of the column '", substr(name, 1L, 60L), "' are not known before the text is read"
)

# The names of the functions that an expression calls.
called_names <- function(e) {
  all <- table(all.names(e))
  names(all)[all > tabulate(match(all.names(e, functions = FALSE), names(all)), length(all))]
}

csv_tree <- function(plan, e) {
  if (!is.language(e)) {
    return(predicate_of(e, plan))
  }
  switch(known_name(plan, e),
    "(" = csv_tree(plan, e[[2L]]),
    "!" = joined("not", list(csv_tree(plan, e[[2L]]))),
    "&" = joined("and", list(csv_tree(plan, e[[2L]]), csv_tree(plan, e[[3L]]))),
    "|" = joined("or", list(csv_tree(plan, e[[2L]]), csv_tree(plan, e[[3L]]))),
    csv_leaf(plan, e)
  )
}

# The predicates of a part with one column, by the types of its values.
csv_leaf <- function(plan, e) {
  k <- match(intersect(all.vars(e), plan$names), plan$names)
  if (length(k) != 1L) {
    return(NULL)
  }
  plan$tested <- union(plan$tested, plan$of[k])
  number <- match(plan$of[k], plan$tested) - 1L
  forms <- plan$forms[[k]]
  predicates <- lapply(forms, function(kind) {
    plan$columns[[as.character(k)]] <- list(csv_column(number, kind))
    predicate_of(e, plan)
  })
  # Chunks with small integers alone do not show whether all are.
  if (!identical(predicates[["int64"]], predicates[["wide"]])) predicates[["wide"]] <- NULL
  if ("null" %in% names(forms)) predicates["null"] <- list(csv_leaf_of_missing(plan, e, number))
  predicates <- predicates[lengths(predicates) > 0L]
  is_known <- length(setdiff(names(predicates), if (length(forms) > 1L) "null")) > 0L
  if (is_known) list("typed", number, predicates)
}

csv_column <- function(number, kind) {
  attrs <- if (kind > CHARACTER) implied(kind, zone = "UTC")
  list(number = number, kind = kind, class = attrs[["class"]], attrs = attrs, ordered = FALSE)
}

# The predicate for a column without values, which is logical in R.
csv_leaf_of_missing <- function(plan, e, number) {
  name <- known_name(plan, e)
  if (is.symbol(e) || name %in% COMPARISONS && all(vapply(as.list(e)[-1L], function(part) is.symbol(part) || is_single(part), NA))) {
    return(list("unknown", number))
  }
  if (name == "is.na" && is.symbol(e[[2L]])) {
    return(list("missing", number))
  }
  if (name == "%in%" && is.symbol(e[[2L]]) && is.atomic(e[[3L]]) && !is.object(e[[3L]])) {
    list("constant", any(is.na(e[[3L]]) & !is_nan(e[[3L]])))
  }
}

is_nan <- function(x) is.double(x) & is.nan(x)

# The kinds that a column of a class, or of none, may have by the type of its values.
csv_forms <- function(class, integer64) {
  wide <- if (integer64 == "integer64" && requireNamespace("bit64", quietly = TRUE)) c(wide = INTEGER64)
  known <- switch(if (is.na(class)) "" else class,
    character = c(string = CHARACTER), integer = c(int32 = INTEGER), numeric = , double = c(float64 = DOUBLE),
    logical = c(bool = LOGICAL),
    integer64 = c(int64 = INTEGER64, wide = INTEGER64)[rep(length(wide) > 0L, 2L)],
    factor = c(categorical = CODES), Date = c(date = DAYS), IDate = integer(), POSIXct = c(datetime = INSTANT),
    c(
      bool = LOGICAL, int32 = INTEGER, int64 = INTEGER, wide, float64 = DOUBLE, date = DAYS, datetime = INSTANT,
      string = CHARACTER
    )
  )
  c(null = LOGICAL, known)
}
