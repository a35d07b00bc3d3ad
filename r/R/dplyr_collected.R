# Verbs of dplyr and tidyr that get the whole frame, and data for plots. One method serves several
# generics, whose first arguments have different names.

on_frame <- function(.data, ...) call_verb(..., verb_package = "dplyr", verb_name = .Generic, verb_frame = .data)

on_frame_tbl <- function(.tbl, ...) call_verb(..., verb_package = "dplyr", verb_name = .Generic, verb_frame = .tbl)

on_frame_x <- function(x, ...) call_verb(..., verb_package = "dplyr", verb_name = .Generic, verb_frame = x)

on_frames <- function(x, y, ...) {
  y <- if (inherits(y, "entasis_table")) collect_for(y, .Generic) else y
  call_verb(y, ..., verb_package = "dplyr", verb_name = .Generic, verb_frame = x)
}

# The name of the new column is the expression of `y`.
nest_join.entasis_table <- function(x, y, by = NULL, ..., name = NULL) {
  if (is.null(name)) name <- rlang::as_label(rlang::enexpr(y))
  y <- if (inherits(y, "entasis_table")) collect_for(y, "nest_join") else y
  dplyr::nest_join(collect_for(x, "nest_join"), y, by = by, ..., name = name)
}

on_frame_data <- function(data, ...) call_verb(..., verb_package = "tidyr", verb_name = .Generic, verb_frame = data)

# The dots come first, so that `.f` does not partially match another argument.
call_verb <- function(..., verb_package, verb_name, verb_frame) {
  verb <- getExportedValue(verb_package, verb_name)
  verb(collect_for(verb_frame, verb_name), ...)
}

fortify.entasis_table <- function(model, data, ...) ggplot2::fortify(collect_for(model, "ggplot"), data, ...)

rowwise.entasis_table <- function(data, ...) dplyr::rowwise(collect_for(data, "rowwise"), ...)

sample_n.entasis_table <- function(tbl, size, ...) dplyr::sample_n(collect_for(tbl, "sample_n"), {{ size }}, ...)

sample_frac.entasis_table <- function(tbl, size = 1, ...) dplyr::sample_frac(
  collect_for(tbl, "sample_frac"), {{ size }}, ...
)
