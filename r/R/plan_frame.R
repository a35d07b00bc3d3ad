# Plans frames and vectors as tables, with their host maps.

# The table of a frame or a vector: its columns and its host map.
make_frame <- function(doc, x, root) {
  plan <- new_plan(doc)
  if (is_frame_like(x)) {
    plan_frame_made(plan, plan_frame(plan, x, root), .row_names_info(x, 2L))
  } else {
    plan_frame_made(plan, plan_atomic(plan, x), length_of(x))
  }
}

# Plans a vector as a table of one column.
plan_atomic <- function(plan, x) {
  planned <- plan_vector(plan, FALSE, x, "value", "x")
  host <- list(host = "r", form = "vector")
  names <- attributes(x)[["names"]]
  if (is.character(names) && is.atomic(x)) {
    # Other hosts read names as row labels; R reads them from the attributes.
    labels <- plan_vector(plan, TRUE, names, "names", "names(x)")
    host$index <- list(kind = "column", column = extra_ref(labels$first), name = NULL)
  }
  if (!is.null(planned$description)) {
    host$columns <- list(list(0L, planned$description))
  }
  host
}

plan_frame <- function(plan, x, root = "") {
  whole <- if (root == "") "x" else root
  attrs <- attributes(x)
  n_rows <- .row_names_info(x, 2L)
  names <- .subset2(attrs, "names")
  columns <- plan_columns(plan, x, names, n_rows, root)
  host <- list(host = "r", form = "data.frame")
  if (length(columns$descriptions) > 0L) {
    host$columns <- columns$descriptions
  }
  if (!columns$named) {
    host$names <- encode_value(plan, names, paste0("names(", whole, ")"))
  }
  host <- c(host, plan_row_names(plan, x, paste0("row.names(", whole, ")")))
  if (!identical(names(attrs), c("names", "class", "row.names")) || !identical(.subset2(attrs, "class"), "data.frame")) {
    host$attributes <- encode_attributes(plan, attrs, whole, skip = c("names", "row.names"))
  }
  host
}

# Row names other than 1, 2, 3 ... become a column, which other hosts read as row labels.
plan_row_names <- function(plan, x, path) {
  info <- .row_names_info(x, 0L)
  if (is.integer(info) && !is.object(info) && length(info) == 2L && is.na(info[1L])) {
    return(if (info[2L] > 0L) list(row_names = "numbers"))
  }
  # A frame without rows, such as a writer's first batch, can't record that its row names are
  # consecutive numbers.
  if (!is.null(plan$doc$times) && identical(info, integer())) {
    return(NULL)
  }
  planned <- plan_vector(plan, TRUE, info, "row.names", path)
  index <- list(kind = "column", column = extra_ref(planned$first), name = NULL)
  c(list(index = index), if (!is.null(planned$description)) list(row_names = planned$description))
}
