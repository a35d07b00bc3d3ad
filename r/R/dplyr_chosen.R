# Queries of some columns of a query.

# The attribute with a column's number, which a selection keeps.
NUMBER <- "entasis_number"

# The query of the columns that a verb selects from the frame without rows.
with_columns <- function(query, verb) {
  parts <- lazy_content(query)
  columns <- unclass(parts$skeleton)[seq_along(parts$at)]
  marked <- lapply(seq_along(columns), function(k) `attr<-`(columns[[k]], NUMBER, k))
  chosen <- verb(decorate(marked, attributes(parts$skeleton)))
  # Names that occur twice are for dplyr to refuse.
  from <- vapply(unclass(chosen)[seq_along(chosen)], attr, 1L, NUMBER, exact = TRUE, USE.NAMES = FALSE)
  changed(query, skeleton = decorate(unname(columns[from]), attributes(chosen)), at = parts$at[from])
}

# The query of some columns and the grouping columns, in the order of the query.
select_names <- function(query, names) {
  parts <- lazy_content(query)
  k <- which(names(query) %in% c(names, group_names(query)))
  attrs <- attributes(parts$skeleton)
  attrs[["names"]] <- attrs[["names"]][k]
  changed(query, skeleton = decorate(unname(unclass(parts$skeleton)[k]), attrs), at = parts$at[k])
}
