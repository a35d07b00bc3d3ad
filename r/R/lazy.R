# Lazy tables and lists of a file: the object, and the functions that refuse operations.

# The object is an external pointer, which R's functions neither open nor treat as a list. Not an
# environment: modelling functions would look up a formula's variables there, and miss the columns.
lazy_object <- function(content, class) .Call(C_lazy, content, class)

lazy_content <- function(x) attr(x, "content", exact = TRUE)

is_lazy <- function(x) inherits(x, c("entasis_table", "entasis_tree"))

# Reads a lazy object whole.
read_lazy <- function(x) if (is_lazy(x)) x[] else x

# Refuses to store values of an encrypted file in a plain one, unless it is to be in clear.
refuse_encrypted <- function(x, is_clear) {
  if (is_clear || !is_lazy(x) || !is.null(secret_in_force())) {
    return(invisible())
  }
  file <- lazy_content(x)
  if (!is.null(file$file)) file <- file$file
  handle_of(file)
  if (file$facts$is_encrypted) {
    wrong("the values are those of an encrypted file: pass 'key' or 'password' for the new one, or key = FALSE to write them in clear")
  }
}

refuse_change <- function(x, ..., value) {
  what <- if (inherits(x, "entasis_tree")) "list" else "table"
  wrong("the ", what, " is a file and can't be changed: read it with x[], change that, and write it")
}

refuse_within <- function(data, expr, ...) refuse_change(data)

# For functions that need all values, or that treat a pointer differently from a data frame.
refuse_whole <- function(x, ...) {
  if (inherits(x, "entasis_tree")) {
    wrong("the list is a file: read it with x[], or a part with x$name, and use that")
  }
  wrong("the table is a file: read it with x[], or a column with x$name, and use that")
}

refuse_order <- function(x, decreasing = FALSE, ...) refuse_whole(x)

refuse_vector <- function(x, mode = "any") refuse_whole(x)

Ops.entasis_table <- function(e1, e2) refuse_whole(if (nargs() == 1L || is_lazy(e1)) e1 else e2)

Ops.entasis_tree <- Ops.entasis_table

Summary.entasis_table <- function(..., na.rm = FALSE) refuse_whole(Find(is_lazy, list(...)))

Summary.entasis_tree <- Summary.entasis_table

# Repeats a call in its environment, with a value in place of the lazy object.
call_with <- function(call, argument, generic, value, caller) {
  call[[1L]] <- generic
  call[[argument]] <- value
  eval(call, caller)
}

# An environment with the columns or parts as variables. Each is read on its first use.
scope_of <- function(names, read, enclosure) {
  scope <- new.env(parent = enclosure)
  at <- which(!is.na(names) & names != "" & !duplicated(names))
  lapply(at, function(k) delayedAssign(names[k], read(k), assign.env = scope))
  scope
}

# The open file of a lazy table, which is opened again in another session.
file_of <- function(x) {
  if (inherits(x, "entasis_query")) {
    wrong("the rows of a query are not read yet: read them with collect(x) or x[], and use that")
  }
  file <- lazy_content(x)
  handle_of(file)
  if (is_tree(file)) wrong("the file \"", file$path, "\" holds a list now: open it again with entasis()")
  file
}
