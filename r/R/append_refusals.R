# Errors for rows that cannot be appended.

wrong_column <- function(file, column, ...) {
  abort("argument", paste0(..., " (file \"", file$path, "\")"), list(file = file$path, column = column))
}

refuse_types <- function(old, new, label, file) {
  what <- if (is.null(label)) "the vector" else paste0("column '", substr(label, 1L, 60L), "'")
  wrong_column(file, if (is.null(label)) NA_character_ else label, what, " is ", shown_type(old), " in the file and ", shown_type(new),
               " in the rows to append: convert one of them")
}

# Refuses a value that the type of the file's column does not hold. `wider` is the type that holds
# both, if there is one.
refuse_misfit <- function(old, new, at, label, file, wider = NULL) {
  what <- if (is.null(label)) "the vector" else paste0("column '", substr(label, 1L, 60L), "'")
  wrong_column(file, if (is.null(label)) NA_character_ else label, what, " is ", shown_type(old), " in the file, which does not hold ",
               shown_value(new, at), " in row ", shown_number(at), " of the rows to append",
               if (is.null(wider)) ": convert one of them" else paste0(": widen = TRUE makes the column ", wider))
}

# A value for messages.
shown_value <- function(x, at) {
  if (is.character(x) || is.factor(x)) {
    return(encodeString(substr(as.character(x[at]), 1L, 60L), quote = "'"))
  }
  unit <- if (has_class(x, "difftime")) paste0(" ", units_of(x))
  bare <- bare_number(x)[at]
  paste0(
    if (is.double(bare) || is.complex(bare)) format(bare, digits = 15L, decimal.mark = ".") else as.character(bare),
    unit
  )
}

# The type of a column for messages.
shown_type <- function(x) {
  if (is_frame_like(x)) {
    return("a data frame")
  }
  # oldClass() of an object of S4 may be the class that it extends.
  class <- unclass_all(attr(x, "class", exact = TRUE))
  what <- if (is.ordered(x)) paste0("ordered (", substr(paste(levels(x), collapse = " < "), 1L, 60L), ")") else
    if (length(class) > 0L) class[1L] else typeof(x)
  parameter <- c(
    units = attr(x, "units", exact = TRUE)[1L], tzone = if (has_class(x, "POSIXt")) parameter_of(x, "tzone")
  )
  if (is.character(parameter)) what <- paste0(what, " in ", if (parameter[[1L]] == "") "local time" else substr(parameter[[1L]], 1L, 60L))
  dim <- dim_of(x)
  if (length(dim) > 1L) paste0(what, " matrix of ", paste(dim[-1L], collapse = " x "), " columns") else what
}

# Times without a zone, or with an empty one, are local times.
parameter_of <- function(x, name) {
  value <- attr(x, name, exact = TRUE)
  if (name != "tzone") value else if (is.null(value)) "" else unclass_all(value)[1L]
}

# Refuses a column whose values cannot be joined. `error` comes from the method of its class.
refuse_class <- function(x, label, file, error = NULL) {
  class <- oldClass(x)
  if (is.null(class)) {
    what <- paste0(", an array of ", length(dim_of(x)), " dimensions")
    why <- "only matrices are joined"
  } else {
    what <- paste0(" of class ", shown_class(class))
    why <- if (is.null(error)) "its values depend on all rows, and there is no known way to join them" else
      paste0("`c` of its class says: ", substr(conditionMessage(error), 1L, 200L))
  }
  abort("unsupported", paste0("not supported: rows cannot be appended to column '", substr(label, 1L, 60L), "'", what, ": ", why,
                              " (file \"", file$path, "\"); read the file, join the values, and write it again"),
        list(file = file$path, column = label))
}

refuse_frame <- function(x, file, why = "it has attributes that depend on all rows, and no known way to join them") {
  abort("unsupported", paste0("not supported: rows cannot be appended to a frame of class ", shown_class(oldClass(x)), ": ", why,
                              " (file \"", file$path, "\"); read the file, join the frames, and write it again"),
        list(file = file$path))
}

# Refuses files whose value R cannot append rows to.
check_growing <- function(file) {
  if (is_tree(file) && isTRUE(file$facts$is_own)) {
    abort("unsupported", paste0("not supported: the file holds neither a data frame nor a vector (file \"", file$path,
                                "\"); read it, change the value, and write it"), list(file = file$path))
  }
  if (!file$own) {
    host <- file$host$host
    by <- if (is_string(host)) substr(host, 1L, 60L) else if (is_tree(file)) "Python" else "another program"
    abort("unsupported", paste0("not supported: the file was written by ", by, " (file \"", file$path,
                                "\"); append to it from there, in Python by entasis.append()"), list(file = file$path))
  }
}
