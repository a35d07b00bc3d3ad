# Row names of frames with more rows.

# The row names that `rbind()` gives. Tibbles and data.tables number their rows.
joined_row_names <- function(old, new, n, file) {
  if (has_class(old, "tbl_df") || has_class(old, "data.table") || rows_go_on(old, new, n)) {
    return(c(NA, -as.integer(sum(n))))
  }
  if (!counts_rows(old) && !counts_rows(new)) {
    again <- intersect(row_names_of(old), row_names_of(new))
    if (length(again) > 0L) {
      wrong_column(
        file, NA_character_, "row names of the rows to append are in the file already: ", listed(again),
        "; rename them"
      )
    }
  }
  frames <- lapply(list(old, new), function(x) {
    structure(list(row = integer(.row_names_info(x, 2L))), class = "data.frame", row.names = row_names_of(x))
  })
  .row_names_info(rbind(frames[[1L]], frames[[2L]]), 0L)
}

row_names_of <- function(x) attr(x, "row.names", exact = TRUE)

# Whether row names are 1, 2, 3 ...
counts_rows <- function(x) is_numbered(x) || identical(row_names_of(x), seq_len(.row_names_info(x, 2L)))

# Whether the row names of both frames are numbers: 1, 2, 3 ..., or for the new rows the numbers
# that follow.
rows_go_on <- function(old, new, n) {
  if (n[1L] > 0 && !counts_rows(old)) {
    return(FALSE)
  }
  if (n[2L] == 0 || counts_rows(new)) {
    return(TRUE)
  }
  sum(n) <= .Machine$integer.max && identical(row_names_of(new), as.integer(n[1L]) + seq_len(n[2L]))
}
