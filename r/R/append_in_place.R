# Adds rows to the end of a file without storing its values anew. The rows are planned as columns
# with the forms of the file; the core compares the forms once more.

# Some rows of columns of a file, with all their attributes. Without rows they are prototypes.
bare_columns <- function(file, which, rows) {
  layout <- layout_of(file)
  facts <- table_facts(file)
  in_session(file, interpret(file, {
    reader <- new_reader(file, rows, FALSE)
    wants <- lapply(which, function(k) reader_want(reader, facts, layout$first[k] + 1, layout$descriptions[[k]]))
    reader_levels(reader, wants)
    vectors <- reader_run(reader)
    lapply(wants, function(want) reader_finish(reader, vectors, want))
  }))
}

# Adds rows. False if the file has to be written anew.
append_in_place <- function(file, x, fill, change, options) {
  facts <- table_facts(file)
  missing <- facts$n_missing == facts$n_values
  columns <- bare_columns(file, seq_along(facts$name), row_range(0, 0, -1))
  if (identical(file$host$form, "vector")) {
    fitted <- fit_vectors(columns[[1L]], x, missing, file)
    if (!is.null(names_of(x))) {
      return(FALSE)
    }
    part <- fitted$new
  } else {
    if (!is_frame_like(x)) must_be("x", "a data frame like that in the file", x)
    names <- layout_of(file)$names
    old <- decorate(columns, list(names = names, class = "data.frame", row.names = c(NA, 0L)))
    fitted <- fit_frames(old, x, fill, "", file, missing)
    part <- part_of_frame(file, fitted, x)
  }
  if (fitted$grows || is.null(part) || any(get_level_na(facts, fitted$new))) {
    return(FALSE)
  }
  doc <- new_document(FALSE)
  plan <- new_plan(doc)
  plan$forms <- forms_of(facts)
  # Values that do not fit a form are an error of the core.
  made <- tryCatch({
    if (is_frame_like(part)) plan_frame_made(plan, plan_frame(plan, part), .row_names_info(part, 2L)) else
      plan_frame_made(plan, plan_atomic(plan, part), length_of(part))
  }, entasis_error_argument = function(e) NULL)
  !is.null(made) && is.null(doc$walker) && core(.Call(C_append, change, made, options))
}

# Which factors of the file have missing values that a level NA of the rows would replace.
get_level_na <- function(facts, new) {
  new <- if (is.list(new)) new else list(new)
  at <- which(facts$logical == "categorical" & facts$n_missing > 0)
  seq_along(facts$name) %in% at[vapply(new[at], function(column) anyNA(levels(column)), NA)]
}

# The frame of the rows with the attributes of the file; NULL if its row names do not continue those
# of the file.
part_of_frame <- function(file, fitted, x) {
  attrs <- own_attributes(file)
  n <- c(file$facts$n_rows, .row_names_info(x, 2L))
  is_numbered_class <- any(c("tbl_df", "data.table") %in% attrs[["class"]])
  of_file <- structure(list(), row.names = c(NA, -as.integer(min(n[1L], .Machine$integer.max))))
  if (!is_numbered_class && !rows_go_on(of_file, x, n)) {
    return(NULL)
  }
  last <- NULL
  if (!is.null(attrs[["sorted"]])) {
    last <- vector("list", length(fitted$names))
    key <- match(attrs[["sorted"]], fitted$names, 0L)
    if (n[1L] > 0) last[key] <- bare_columns(file, key[key > 0L], row_range(n[1L] - 1, n[1L], -1))
  }
  attrs <- grown_attributes(attrs, fitted, last)
  attrs["names"] <- list(fitted$names)
  attrs[["row.names"]] <- c(NA, -as.integer(n[2L]))
  decorate(unname(fitted$new), attrs)
}

# The forms of a file's columns: the time unit (0 if times are stored as doubles), and which NaN
# means missing.
forms_of <- function(facts) {
  unit <- unname(UNIT_CODES[facts$unit])
  unit[is.na(unit)] <- 0L
  list(unit = unit, na = 1L + (bitwAnd(facts$variant, VARIANT_QUIET) > 0L))
}
