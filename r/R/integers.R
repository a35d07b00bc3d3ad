# The types of vectors for integers of other hosts. R has 32-bit integers, where the least one is
# NA, and the 64-bit integers of the package bit64. The choice depends on all values of a column, so
# that each part of it has the same type.

# The codes of src/rust/src/integers.rs.
FITS_INTEGER <- 0L
FITS_INTEGER64 <- 1L

is_of_r <- function(file) file$own || isTRUE(file$facts$is_own)

# The choice as a code for C; 0 for files of R, which keep their types.
int64_code <- function(file) if (is_of_r(file)) 0L else match(file$int64, INT64)

# Decides the kinds of 32-bit and 64-bit integers among columns. A pool of a tree holds several
# arrays; src/integers.c decides for each of them.
integer_kinds <- function(file, facts, which, kind) {
  is_64 <- kind == INTEGER64
  is_looked_at <- is_64 & (file$int64 != "double") | kind == INTEGER & facts$physical[which] == "i32"
  kind[which(is_64)] <- WHOLE
  at <- which(is_looked_at)
  if (length(at) == 0L) {
    return(kind)
  }
  fits <- integer_fits(file, facts$number[which[at]])
  beyond <- is_64[at] & fits > FITS_INTEGER64
  if (file$int64 == "integer64" && any(beyond)) refuse_beyond(file, facts, which[at][beyond][1L])
  narrow <- file$int64 == "fit" && !isTRUE(file$is_pools)
  kind[at] <- ifelse(
    fits == FITS_INTEGER & (narrow | !is_64[at]), INTEGER,
    ifelse(fits <= FITS_INTEGER64 & is_64[at], INTEGER64, WHOLE)
  )
  kind
}

# The narrowest type for all values of each column. Each column is checked once.
integer_fits <- function(file, numbers) {
  new <- setdiff(numbers, file$fits$number)
  if (length(new) > 0L) {
    found <- core(.Call(C_integer_fits, handle_of(file), new))
    file$fits <- list(number = c(file$fits$number, new), fit = c(file$fits$fit, found))
  }
  file$fits$fit[match(numbers, file$fits$number)]
}

# Without bit64, R shows the bits of integer64 as doubles.
load_bit64 <- function(file) {
  if (!.Call(C_has_made_integer64, FALSE) || requireNamespace("bit64", quietly = TRUE)) {
    return(invisible())
  }
  if (is_of_r(file)) {
    warning("values of class integer64 print and compute as other numbers without the package bit64: install it (file \"", file$path, "\")",
            call. = FALSE)
  } else {
    message <- paste0("not supported: some integers need 64 bits, and the package bit64, which is not installed (file \"", file$path,
                      "\"); install.packages(\"bit64\"), or read with int64 = \"double\"")
    abort("unsupported", message, list(file = file$path))
  }
}

# If the caller asked for integer64, refuses a column with a value outside its range.
refuse_beyond <- function(file, facts, which) {
  first <- core(.Call(C_beyond_integer64, handle_of(file), facts$number[which]))
  name <- facts$name[which]
  abort("unsupported", paste0("not supported: integer64 does not hold ", first$value, where_is_integer(file, facts$number[which], first$row),
                              " (file \"", file$path, "\"",
                              if (nzchar(name)) paste0(", column \"", substr(name, 1L, 100L), "\""),
                              "); read with int64 = \"fit\", which gives doubles"), list(file = file$path, column = name))
}

# The place of an integer: the row, for a column of the table.
where_is_integer <- function(file, number, row) {
  is_of_table <- !isTRUE(file$is_pools) && isTRUE(number %in% table_facts(file)$number)
  if (is_of_table) sprintf(" in row %.0f", row)
}

# Warns about integers that were rounded to doubles. `first` has the first rounded integer of each
# column.
warn_rounded <- function(file, columns, first) {
  names <- if (length(columns) > 0L) describe_columns(file, columns)$name else ""
  names <- names[nzchar(names)]
  of <- if (length(names) > 0L) paste0(" in column \"", substr(names[1L], 1L, 100L), "\"")
  more <- if (length(names) > 1L) paste0(" and ", length(names) - 1L, " more")
  example <- if (length(first) > 0L) paste0(", the first is ", first[[1L]]$value, where_is_integer(file, columns[1L], first[[1L]]$row))
  warning(
    "integers beyond 2^53 lost digits as doubles", of, more, example, " (file \"", file$path, "\")",
    call. = FALSE
  )
}

# Labels of categories become text with all digits, regardless of `int64`.
with_fitting <- function(file, expr) {
  before <- file$int64
  file$int64 <- "fit"
  on.exit(file$int64 <- before)
  expr
}
