# Verbs of dplyr that get the whole frame. A method is registered for several generics, which differ
# in the name of their first argument.

on_frame <- function(.data, ...) getExportedValue("dplyr", .Generic)(collect_for(.data, .Generic), ...)

on_frame_tbl <- function(.tbl, ...) getExportedValue("dplyr", .Generic)(collect_for(.tbl, .Generic), ...)

on_frame_x <- function(x, ...) getExportedValue("dplyr", .Generic)(collect_for(x, .Generic), ...)

on_frames <- function(x, y, ...) {
  y <- if (inherits(y, "entasis_table")) collect_for(y, .Generic) else y
  getExportedValue("dplyr", .Generic)(collect_for(x, .Generic), y, ...)
}

rowwise.entasis_table <- function(data, ...) dplyr::rowwise(collect_for(data, "rowwise"), ...)

sample_n.entasis_table <- function(tbl, size, ...) dplyr::sample_n(collect_for(tbl, "sample_n"), size, ...)

sample_frac.entasis_table <- function(tbl, size = 1, ...) dplyr::sample_frac(collect_for(tbl, "sample_frac"), size, ...)
