# Rows that a verb of dplyr keeps.

# A name that no expression uses.
ROW_NUMBER <- " row number in file "

# The row numbers that remain after a verb of dplyr ran on some columns, their groups and a column
# of row numbers.
rows_by <- function(query, names, verb) {
  parts <- lazy_content(query)
  needed <- select_names(query, names)
  rows <- rows_of_query(needed)
  frame <- gather(needed, rows)
  number <- ROW_NUMBER
  while (number %in% names(query)) number <- paste0(number, " ")
  n <- count_of_query(needed)
  columns <- c(
    unclass(frame)[seq_along(frame)], structure(list(if (is.null(rows)) seq_len(n) else rows), names = number)
  )
  frame <- decorate(
    unname(columns),
    list(names = names(columns), class = c("tbl_df", "tbl", "data.frame"), row.names = c(NA, -as.integer(n)))
  )
  groups <- group_names(query)
  if (length(groups) > 0L) frame <- dplyr::grouped_df(frame, groups, dplyr::group_by_drop_default(parts$skeleton))
  .subset2(verb(frame), number)
}
