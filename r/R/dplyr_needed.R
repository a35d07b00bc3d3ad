# Finds the columns that expressions use, so that no other columns are read.

# Functions that may look at columns which no expression names.
PEEKERS <- c(
  "get", "get0", "mget", "exists", "eval", "evalq", "eval.parent", "eval_tidy", "inject", "parent.frame",
  "sys.function", "sys.frame",
  "sys.frames", "environment", "as.environment", "caller_env", "current_env", "cur_data",
  "cur_data_all", "pick", "across", "if_any", "if_all", "c_across",
  "as.formula", "formula", "reformulate", "str2lang", "str2expression", "parse", "parse_expr", "sym", "syms",
  "as.name", "as.symbol", "model.frame",
  "glue", "str_glue", "str_interp", "match.fun", "as_function", "dynGet", "local", "sys.call", "match.call",
  "ls", "attach", "data_sym", "data_syms"
)

# Packages whose other functions use only their arguments.
TRUSTED_PACKAGES <- c("base", "stats", "utils", "methods", "dplyr", "rlang", "tidyselect", "tibble", "vctrs", "stringr", "lubridate", "forcats",
                      "hms", "purrr", "bit64", "data.table", "magrittr", "entasis")

# Whether arguments of a verb include options of other versions of dplyr, such as .by and .locale.
# The verb then gets all arguments unchanged.
has_options <- function(arguments) any(startsWith(names(arguments), ".") | names(arguments) == "by")

# The names of the columns that quosures use, or NULL if they may use any. `with_numbers` is whether
# the frame will have a column of row numbers, which across() must not choose.
needed_names <- function(query, quosures, with_numbers = FALSE) {
  found <- character()
  scope <- list(skeleton = lazy_content(query)$skeleton, names = names(query), with_numbers = with_numbers)
  for (quosure in quosures) {
    if (!rlang::is_quosure(quosure)) quosure <- rlang::new_quosure(quosure, baseenv())
    of_one <- names_used(scope, rlang::quo_get_expr(quosure), rlang::quo_get_env(quosure))
    if (is.null(of_one)) {
      return(NULL)
    }
    found <- union(found, of_one)
  }
  found
}

names_used <- function(scope, e, env) {
  names <- scope$names
  if (rlang::is_quosure(e)) {
    return(names_used(scope, rlang::quo_get_expr(e), rlang::quo_get_env(e)))
  }
  if (is.symbol(e)) {
    name <- as.character(e)
    return(if (name %in% names) name else if (name != ".data" && is_trusted(name, env)) character())
  }
  if (is.pairlist(e)) e <- as.list(e)
  if (!is.call(e) && !is.list(e)) {
    return(if (is.character(e)) intersect(e, names) else if (!is.function(e) && !is.environment(e) && !is.expression(e)) character())
  }
  if (is.call(e)) {
    if (is_data_pronoun(e)) {
      name <- pronoun_name(e)
      return(if (!is.null(name)) intersect(name, names))
    }
    if (called_name(e) %in% c("across", "if_any", "if_all", "c_across")) {
      return(names_across(scope, e, env))
    }
    if (!is.symbol(e[[1L]])) {
      # Only pkg::name() is known.
      name <- called_name(e)
      is_known <- nzchar(name) && as.character(e[[1L]][[2L]]) %in% TRUSTED_PACKAGES && !name %in% PEEKERS
      return(if (is_known) names_used(scope, as.list(e)[-1L], env))
    }
  }
  found <- character()
  parts <- as.list(e)
  for (part in parts[!vapply(parts, identical, NA, quote(expr = ))]) {
    of_part <- names_used(scope, part, env)
    if (is.null(of_part)) {
      return(NULL)
    }
    found <- union(found, of_part)
  }
  found
}

# Whether a symbol's value cannot access columns by itself. Searches a user's functions, also in
# lists.
is_trusted <- function(name, env, seen = character()) {
  if (name %in% PEEKERS) {
    return(FALSE)
  }
  if (!nzchar(name) || name %in% seen) {
    return(TRUE)
  }
  # A symbol may stand for a function and for another value.
  values <- tryCatch(
    list(get0(name, envir = env, mode = "function"), get0(name, envir = env)), error = function(e) NULL
  )
  !is.null(values) && all(vapply(values, is_trusted_value, NA, c(seen, name)))
}

is_trusted_value <- function(x, seen) {
  if (is.list(x) && !is.object(x)) {
    return(all(vapply(x, is_trusted_value, NA, seen)))
  }
  if (!is.function(x) || is.primitive(x)) {
    return(!inherits(x, "formula") || all(vapply(all.names(x), is_trusted, NA, environment(x), seen)))
  }
  home <- environment(x)
  if (isNamespace(topenv(home))) {
    # A closure made by a package's function may hold other functions.
    return(isNamespace(home) && getNamespaceName(home) %in% TRUSTED_PACKAGES)
  }
  names <- unique(c(all.names(body(x)), unlist(lapply(formals(x), all.names))))
  all(vapply(names, is_trusted, NA, home, seen))
}

# .data$name and .data[[name]]
is_data_pronoun <- function(e) {
  is.call(e) && length(e) == 3L && (identical(e[[1L]], quote(`$`)) || identical(e[[1L]], quote(`[[`))) && identical(e[[2L]], quote(.data))
}

# The name in a use of `.data`, or NULL if it is computed.
pronoun_name <- function(e) {
  name <- e[[3L]]
  if (is.symbol(name) && identical(e[[1L]], quote(`$`))) name <- as.character(name)
  if (is_string(name)) name
}

# The columns of across() and similar functions, if the selection means the same in a frame with
# fewer columns: without numbers and last_col().
names_across <- function(scope, e, env) {
  names <- scope$names
  given <- names(e)
  arguments <- as.list(e)[-1L]
  at <- match(".cols", given[-1L])
  if (is.na(at)) at <- if (is.null(given)) 1L else match("", given[-1L])
  if (is.na(at) || at > length(arguments)) {
    return(NULL)
  }
  selection <- arguments[[at]]
  words <- all.names(selection)
  by_position <- c("last_col", "one_of", "num_range", "group_cols")
  open <- c("-", "!", "everything", "where", "starts_with", "ends_with", "contains", "matches")
  is_known <- !any(
    c(by_position, if (scope$with_numbers) open) %in% words
  ) && is_static_selection(selection, env, names)
  if (!is_known || has_numbers(selection, env, names)) {
    return(NULL)
  }
  frame <- dplyr::ungroup(scope$skeleton)
  chosen <- tryCatch(tidyselect::eval_select(rlang::new_quosure(selection, env), frame), error = function(e) NULL)
  rest <- names_used(scope, as.list(arguments[-at]), env)
  if (!is.null(chosen) && !is.null(rest)) {
    Reduce(union, list(names[chosen], rest, intersect(all.vars(selection), names)))
  }
}

# Whether a selection uses positions.
has_numbers <- function(e, env, names) {
  if (is.numeric(e)) {
    return(TRUE)
  }
  if (is.symbol(e)) {
    name <- as.character(e)
    return(!name %in% names && is.numeric(get0(name, envir = env)))
  }
  if (!is.call(e)) {
    return(FALSE)
  }
  if (called_name(e) %in% c("all_of", "any_of")) {
    value <- tryCatch(eval(e[[2L]], env), error = function(e) NULL)
    return(!is.character(value))
  }
  any(vapply(as.list(e)[-1L], has_numbers, NA, env, names))
}
