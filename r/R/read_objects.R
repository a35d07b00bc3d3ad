# Columns of lists, whose values are cells.

# The values of a column of lists, by its cell, its length and its name, which errors report.
read_list <- function(reader, of) {
  file <- reader$file
  file$column <- of[[3L]]
  on.exit(file$column <- NULL)
  read_object_column(file, of[[1L]], of[[2L]], reader$rows)
}

# A column of objects. Only dates, or only times of day, from another host become a vector: pandas
# can store these only as objects.
read_object_column <- function(file, cell, n_values, rows) {
  values <- read_objects(file, cell, n_values, rows)
  class <- if (file$own) "" else class_of_objects(file, cell, n_values, rows, values)
  if (class == "") {
    return(values)
  }
  numbers <- vapply(values, function(value) if (inherits(value, class)) as.double(value) else NA_real_, 0)
  decorate(numbers, if (class == "Date") list(class = "Date") else list(class = c("hms", "difftime"), units = "secs"))
}

# The common class of all values of a column of objects, or "". It depends on all rows, so that each
# part has the type of the whole.
class_of_objects <- function(file, cell, n_values, rows, values) {
  key <- as.character(cell)
  if (is.null(file$object_classes[[key]])) {
    class <- common_class(values)
    if (!is_all(rows) && !identical(class, "")) {
      # A value without counterpart in R is not a date.
      class <- tryCatch(
        common_class(read_objects(file, cell, n_values, ALL_ROWS)), entasis_error_unsupported = function(e) ""
      )
    }
    file$object_classes[[key]] <- if (is.null(class)) "" else class
  }
  file$object_classes[[key]]
}

# "Date" or "hms" if all values are of that class or missing; NULL if all are missing, else "".
common_class <- function(values) {
  missing <- vapply(
    values, function(value) is.null(value) || is.atomic(value) && length(value) == 1L && is.na(value), NA
  )
  there <- values[!missing]
  if (length(there) == 0L) {
    return(NULL)
  }
  for (class in c("Date", "hms")) {
    if (all(vapply(there, inherits, NA, class))) {
      return(class)
    }
  }
  ""
}

# The values of a column of lists in some rows. `cell` is the cell with the list of all values.
read_objects <- function(file, cell, n_values, rows) {
  in_session(file, {
    if (cell < 0) nonsense("a list without its values")
    found <- look_at_cell(file, cell)
    if (found$kind != CELL_LIST || found$count != n_values) nonsense("a column of lists has the wrong number of values")
    if (rows[[1L]] == 2L) {
      wanted <- rows[[4L]]
      from <- if (length(wanted) > 0L) min(wanted) else 0
      upto <- if (length(wanted) > 0L) max(wanted) + 1 else 0
      values <- read_reference(cells_ref(found$first + from, found$first + upto), file)
      values[wanted - from + 1]
    } else {
      range <- if (is_all(rows)) c(0, n_values) else c(rows[[2L]], rows[[3L]])
      if (range[2L] > n_values) nonsense("rows beyond the end of a column")
      if (range[1L] == range[2L]) list() else read_reference(cells_ref(found$first + range[1L], found$first + range[2L]), file)
    }
  })
}
