# Matches columns of rows to append by their names.

# For each column of the file, and then for each new column, its position in the rows. If the rules
# allow it, missing columns have NA, and columns may be new. `within` is the path of the frames.
column_positions <- function(of_file, of_rows, within, rules) {
  file <- rules$file
  old <- names_of(of_file)
  new <- names_of(of_rows)
  if (is.null(old) || is.null(new) || anyDuplicated(old) || anyDuplicated(new)) {
    if (!identical(old, new) || length_of(of_file) != length_of(of_rows)) {
      wrong_column(
        file, NA_character_,
        "names of columns occur twice or are missing: rows can be appended only with the same names in order"
      )
    }
    return(seq_len(length_of(of_file)))
  }
  unknown <- new[!new %in% old]
  if (length(unknown) > 0L && !rules$fill) {
    wrong_column(file, unknown[1L], "the file has no column ", listed(paste0(within, unknown)),
                 ": leave it out; fill = TRUE adds it, with NA in earlier rows")
  }
  at <- match(old, new)
  lacking <- old[is.na(at)]
  if (length(lacking) > 0L && !rules$fill) {
    wrong_column(
      file, lacking[1L], "the rows to append have no column ", listed(paste0(within, lacking)),
      ": fill = TRUE makes it NA"
    )
  }
  c(at, match(unknown, new))
}
