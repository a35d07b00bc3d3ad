# Positions of columns or parts by the rules of R for a list with the same names.

# A list whose elements are their own positions.
list_of_positions <- function(names) structure(as.list(seq_along(names)), names = names)

# The positions that `[` selects. Masks are recycled, and 0 selects nothing. A column that does not
# exist is an error. `what` names the elements in errors.
resolve_positions <- function(names, i, what, is_tibble = FALSE) {
  k <- length(names)
  i <- plain_index(i, is_tibble)
  if (is.null(i)) {
    return(integer())
  }
  if (is.character(i)) {
    found <- match(i, names)
    if (anyNA(found)) {
      missing <- i[is.na(found)][1L]
      abort(
        "argument", paste0("there is no ", what, " '", missing, "'"),
        if (what == "column") list(column = missing) else list()
      )
    }
    return(found)
  }
  if (is.logical(i)) {
    check_mask(i, k, paste0(what, "s"), is_tibble)
    if (anyNA(i)) wrong("a mask of ", what, "s must have no NA")
    return(which(rep_len(i, k)))
  }
  if (!is.numeric(i) || anyNA(i)) wrong(what, "s must be names, numbers or a mask, not ", what_is(i))
  i <- trunc(i)
  i <- i[i != 0]
  if (any(i < 0) && any(i > 0)) wrong(what, " numbers must be positive or negative, not both")
  if (length(i) > 0L && i[1L] < 0) {
    return(seq_len(k)[i])
  }
  if (any(i > k)) wrong(what, " numbers must be from 1 to ", k, ", not ", shown_number(i[i > k][1L]))
  as.integer(i)
}

# An index without its class. R takes the codes of a factor, and a tibble its strings.
plain_index <- function(i, is_tibble) {
  if (is.factor(i)) {
    return(if (is_tibble) as.character(i) else unclass_all(i))
  }
  if (is.numeric(i) && !is.null(oldClass(i))) as.double(i) else i
}

# R recycles masks; tibbles only those of length 1.
check_mask <- function(mask, n, what, is_tibble) {
  if (length(mask) > n && length(mask) != 1L || is_tibble && !length(mask) %in% c(1L, n)) {
    wrong("a mask of ", what, " must have length ", shown_number(n), if (is_tibble || n == 0) " or 1" else " or less", ", not ",
          shown_number(length(mask)))
  }
}

# The position that `[[` selects, or NULL for a name that does not exist.
resolve_position <- function(names, i, what, exact = TRUE) {
  tryCatch(.subset2(list_of_positions(names), i, exact = exact), error = function(e) {
    wrong("[[ must be given one ", what, ", by its name or its number from 1 to ", length(names), ", not ", what_is(i))
  })
}

# The positions of columns by names, numbers or a mask.
resolve_columns <- function(names, columns, is_tibble = FALSE) resolve_positions(names, columns, "column", is_tibble)
