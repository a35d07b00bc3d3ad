# Columns of the file that rows to append replace or add: columns of a wider type, of another form
# in the file, and new columns.

# How the columns of the file change before the rows are added; NULL if they stay. Reads the columns
# that are replaced.
columns_to_set <- function(file, fitted) {
  replaced <- which(!fitted$is_new & (fitted$grows | need_other_form(table_facts(file), fitted$new)))
  added <- which(fitted$is_new)
  if (length(replaced) + length(added) == 0L) {
    return(NULL)
  }
  if (is_vector_file(file)) {
    return(list())
  }
  at <- c(replaced, added)
  values <- c(whole_columns(file, replaced, fitted), lapply(fitted$new[added], earlier_values, file))
  forms <- forms_of_joined(values, fitted$new[at])
  from <- seq_along(fitted$new)
  from[at] <- seq_along(at)
  names <- fitted$names
  n <- file$facts$n_rows
  new <- decorate(values, list(names = if (is.null(names)) rep_len("", length(at)) else names[at], class = "data.frame", row.names = c(NA, -as.integer(n))))
  # A level NA comes last, and a missing value first.
  reordered <- replaced[vapply(values[seq_along(replaced)], function(x) is.factor(x) && anyNA(levels(x)), NA)]
  list(
    final = final_columns(from, names, seq_along(from) %in% at, new, changed = names[reordered]), forms = forms, names = names[replaced],
    operation = if (length(replaced) > 0L) OPERATION$replace else OPERATION$add
  )
}

# All values of columns of the file, in the types of the fitted rows.
whole_columns <- function(file, which, fitted) {
  if (length(which) == 0L) {
    return(list())
  }
  facts <- table_facts(file)
  missing <- facts$n_missing == facts$n_values
  rules <- append_rules(file, FALSE, TRUE)
  Map(function(old, k) {
    fit_column(old, fitted$new[[k]], layout_of(file)$names[k], missing[k], rules)$old
  }, bare_columns(file, which, ALL_ROWS), which, USE.NAMES = FALSE)
}

earlier_values <- function(new, file) {
  n <- file$facts$n_rows
  if (is_frame_like(new)) filled(new, n, "", file) else missing_like(new, n)
}

# The forms that hold the values of the file and of the rows.
forms_of_joined <- function(old, new) {
  joined <- Map(function(old, new) {
    if (is.double(old) && is.double(new)) decorate(c(unclass_all(old), unclass_all(new)), row_independent(attributes(old)))
  }, old, new)
  unit <- vapply(joined, exact_unit, 0L)
  na <- vapply(joined, function(x) if (is.null(x)) 1L else max(core(.Call(C_na_kind, list(x))), 1L), 0L)
  list(unit = unit, na = na)
}

# The coarsest unit in which times are whole numbers; 0 if there is none, and for other values.
exact_unit <- function(x) {
  scale <- if (!is.null(x)) kind_by(typeof(x), attributes(x), isS4(x))$scale
  if (is.null(scale)) 0L else core(.Call(C_exact_unit, list(x), scale, FALSE))
}

# Which columns of the file hold the rows only in another form: times in a finer unit, and factors
# with wider codes, levels of their own, or a level NA.
need_other_form <- function(facts, new) {
  of_file <- seq_along(new) <= length(facts$name)
  found <- logical(length(new))
  found[of_file] <- get_level_na(facts, new[of_file]) | need_unit(facts, new[of_file]) | need_wider_codes(facts, new[of_file]) |
    need_own_levels(facts, new[of_file])
  found
}

# Which factors of the file have missing values that a level NA of the rows would replace.
get_level_na <- function(facts, new) {
  at <- which(facts$logical == "categorical" & facts$n_missing > 0)
  seq_along(facts$name) %in% at[vapply(new[at], function(column) anyNA(levels(column)), NA)]
}

need_unit <- function(facts, new) {
  unit <- stored_units(facts)
  na <- stored_na(facts)
  vapply(seq_along(new), function(k) unit[k] > 0L && is.double(new[[k]]) && !fits_unit(new[[k]], facts$unit[k], na[k]), NA)
}

# Whether times are whole numbers of a unit and within its range, and have no other kind of NA.
fits_unit <- function(x, unit, na) {
  scale <- kind_by(typeof(x), attributes(x), isS4(x))$scale
  if (is.null(scale)) {
    return(TRUE)
  }
  needed <- core(.Call(C_exact_unit, list(x), scale, FALSE))
  needed > 0L && needed <= UNIT_CODES[[unit]] && is_in_range(x, scale, unit) && core(.Call(C_na_kind, list(x))) %in% c(0L, na)
}

# Whether 64 bits hold times in a unit.
is_in_range <- function(x, scale, unit) {
  seconds <- max(abs(unclass_all(x)), 0, na.rm = TRUE) * max(scale, 1)
  seconds * PER_SECOND[[unit]] <= 9.2e18
}

PER_SECOND <- c(W = 0, D = 0, h = 0, m = 0, s = 1, ms = 1e3, us = 1e6, ns = 1e9)

# The codes of the levels are at most these.
MOST_CODES <- c(i8 = 127, i16 = 32767)

need_wider_codes <- function(facts, new) {
  most <- MOST_CODES[facts$physical]
  facts$logical == "categorical" & !is.na(most) & vapply(new, function(column) length(levels(column)), 0L) > most
}

# Factors of the file that share a dictionary column, and get other levels than the first of these.
need_own_levels <- function(facts, new) {
  found <- logical(length(new))
  codes <- which(facts$logical == "categorical")
  for (shared in split(codes, facts$dictionary[codes])) {
    if (length(shared) < 2L) next
    first <- levels(new[[shared[1L]]])
    found[shared] <- !vapply(new[shared], function(column) identical(levels(column), first), NA)
  }
  found
}
