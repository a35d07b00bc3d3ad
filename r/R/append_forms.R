# How the columns of a file store times and factors, and whether that form holds new rows.

# The forms of a file's columns: the time unit (0 if times are stored as doubles), which NaN means
# missing, and the dictionary column of a factor.
forms_of <- function(facts) {
  list(unit = stored_units(facts), na = stored_na(facts), dictionary = facts$dictionary)
}

stored_na <- function(facts) 1L + (bitwAnd(facts$variant, VARIANT_QUIET) > 0L)

stored_units <- function(facts) {
  unit <- unname(UNIT_CODES[facts$unit])
  unit[is.na(unit)] <- 0L
  unit
}

# The forms that hold the values of the file and of the rows.
forms_of_joined <- function(old, new) {
  joined <- Map(function(old, new) {
    if (is.double(old) && is.double(new)) {
      decorate(c(unclass_all(old), unclass_all(new)), row_independent(attributes(old)))
    }
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
  na <- stored_na(facts)
  at <- which(stored_units(facts) > 0L)
  seq_along(new) %in% at[!vapply(at, function(k) fits_unit(new[[k]], facts$unit[k], na[k]), NA)]
}

# Whether times are whole numbers of a unit and within its range, and have no other kind of NA.
fits_unit <- function(x, unit, na) {
  scale <- if (is.double(x)) kind_by(typeof(x), attributes(x), isS4(x))$scale
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
  at <- which(facts$logical == "categorical" & facts$physical %in% names(MOST_CODES))
  seq_along(new) %in% at[lengths(lapply(new[at], levels)) > MOST_CODES[facts$physical[at]]]
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
