# Matches columns of rows to append by their names.

# For each name of the file the position of its column in the rows. NA stands for a missing column,
# with `fill`. `within` is the path of the frame.
column_positions <- function(old, new, fill, within, file) {
  if (is.null(old) || is.null(new) || anyDuplicated(old) || anyDuplicated(new)) {
    if (!identical(old, new)) {
      wrong_column(file, NA_character_, "names of columns occur twice or are missing: rows can be appended only with the same names in order")
    }
    return(seq_along(old))
  }
  unknown <- new[!new %in% old]
  if (length(unknown) > 0L) {
    wrong_column(file, unknown[1L], "the file has no column ", listed(paste0(within, unknown)), ": leave it out, or add it to the file")
  }
  at <- match(old, new)
  lacking <- old[is.na(at)]
  if (length(lacking) > 0L && !fill) {
    wrong_column(file, lacking[1L], "the rows to append have no column ", listed(paste0(within, lacking)), ": fill = TRUE makes it NA")
  }
  at
}

wrong_column <- function(file, column, ...) {
  abort("argument", paste0(..., " (file \"", file$path, "\")"), list(file = file$path, column = column))
}

# Some names for a message.
listed <- function(names, most = 5L) {
  shown <- paste0("'", substr(names[seq_len(min(length(names), most))], 1L, 60L), "'", collapse = ", ")
  if (length(names) > most) paste0(shown, " and ", length(names) - most, " more") else shown
}
