# The plan of a table to write: its columns, extra columns and the host map. Columns are described
# by lists of vectors with an element for each column, so that one call adds many plain columns.

new_plan <- function(doc = NULL) {
  plan <- new.env(parent = emptyenv())
  plan$doc <- doc
  plan$columns <- NULL
  plan$extra <- NULL
  plan$n_columns <- 0L
  plan$n_extra <- 0L
  # The forms of the columns of a file that the values follow.
  plan$forms <- NULL
  # The form of times: "first" takes it from the values.
  plan$times <- if (is.null(doc$times)) "first" else doc$times
  plan
}

# The forms of some columns of the file that the values follow, or NULL.
stored_forms <- function(plan, at) if (!is.null(plan$forms)) lapply(plan$forms, `[`, at)

# Adds columns, and returns the number of the first one.
plan_add <- function(plan, extra, name, values, kind, n, variant = 0L, unit = 0L, seconds = 1L, na = 0L, levels = -1L,
                     n_levels = 0L, ordered = 0L, zone = "", offset = 0, cell = -1) {
  k <- length(values)
  columns <- list(
    name = rep_len(name, k), values = values, kind = rep_len(kind, k), variant = rep_len(variant, k),
    unit = rep_len(unit, k), seconds = rep_len(seconds, k), na = rep_len(na, k), levels = rep_len(levels, k),
    n_levels = rep_len(n_levels, k), ordered = rep_len(ordered, k), zone = rep_len(zone, k),
    offset = rep_len(offset, k), n = rep_len(as.double(n), k), cell = rep_len(as.double(cell), k)
  )
  if (extra) {
    first <- plan$n_extra
    plan$extra <- chain(plan$extra, columns)
    plan$n_extra <- first + k
  } else {
    first <- plan$n_columns
    plan$columns <- chain(plan$columns, columns)
    plan$n_columns <- first + k
  }
  first
}

NO_COLUMNS <- list(
  name = character(), values = list(), kind = integer(), variant = integer(), unit = integer(), seconds = integer(),
  na = integer(), levels = integer(), n_levels = integer(), ordered = integer(), zone = character(),
  offset = double(), n = double(), cell = double()
)

join_columns <- function(chained) {
  parts <- unchain(chained)
  if (length(parts) < 2L) {
    return(if (length(parts) == 0L) NO_COLUMNS else parts[[1L]])
  }
  field <- function(name) {
    found <- lapply(parts, `[[`, name)
    if (name == "values") do.call(c, found) else unlist(found, use.names = FALSE)
  }
  sapply(names(NO_COLUMNS), field, simplify = FALSE)
}

# The frame of a plan, with its host map.
plan_frame_made <- function(plan, host, n_rows) {
  # Evaluating the host map adds columns to the plan.
  force(host)
  core(.Call(C_frame, as.double(n_rows), join_columns(plan$columns), join_columns(plan$extra), host))
}
