# The arguments of a reading for the core, from those of read_csv_entasis() and scan_csv_entasis()
# that describe a text. `na.strings` is NULL if those of the spec count.

csv_options <- function(sources, sep, dec, quote, header, na.strings, skip, fill, encoding, nThread, comment.char, strip.white, escape,
                        thousands, dates, on_error, spec, max_field) {
  if (isTRUE(sources$are_text)) encoding <- "UTF-8"
  form <- csv_form(sep, dec, quote, header, skip, comment.char, escape, thousands, encoding, strip.white)
  form$spec <- if (!is.null(spec)) csv_spec_text(spec)
  form$na.strings <- na.strings
  form$fill <- flag_text(fill, "fill")
  form$on_error <- check_choice(on_error, "on_error", c("error", "missing", "skip"))
  form$max_field <- format(check_whole(max_field, "max_field", 1, 2^31 - 1), scientific = FALSE)
  if (!is.null(nThread)) form$nThread <- check_whole(nThread, "nThread", 1, MOST_THREADS)
  c(form, csv_dates(dates))
}

csv_words_of_missing <- function(na.strings) setdiff(
  if (!is.null(na.strings)) check_strings(na.strings, "na.strings"), ""
)

# A function that finds the names of all columns of a text on its first call.
csv_names_of <- function(sources, form) {
  known <- NULL
  function() {
    if (is.null(known)) known <<- csv_call(sources, c(form, nrows = "0"))$all_names
    known
  }
}

# Adds the types of columns, and the other arguments about columns.
csv_typed <- function(form, classes, stringsAsFactors, id) {
  given <- classes[!is.na(CSV_TYPES[classes])]
  form$type_columns <- names(given)
  form$types <- unname(CSV_TYPES[given])
  form$stringsAsFactors <- flag_text(stringsAsFactors, "stringsAsFactors")
  form$id <- if (!is.null(id)) unless_auto(id, "id", character())
  form
}

# The columns to read or to leave out, and the classes of columns. The names of `select` are classes
# if it is a list, and its values are if they have names.
csv_selection <- function(select, drop, colClasses, all_names) {
  if (!is.null(select) && !is.null(drop)) wrong("pass 'select' or 'drop', not both")
  classes <- csv_classes(colClasses, "colClasses", all_names)
  if (is.list(select) || is.character(select) && !is.null(names(select))) {
    if (length(classes) > 0L) wrong("'select' has classes: pass them there or in 'colClasses', not both")
    classes <- csv_classes(select, "select", all_names)
    columns <- if (is.list(select)) unlist(lapply(select, csv_columns, "select", all_names)) else enc2utf8(names(select))
  } else if (!is.null(select)) {
    columns <- csv_columns(select, "select", all_names)
  } else {
    columns <- NULL
  }
  left_out <- names(classes)[classes == "NULL"]
  without <- if (!is.null(drop)) csv_columns(drop, "drop", all_names)
  if (!is.null(columns)) columns <- setdiff(columns, left_out) else without <- unique(c(without, left_out))
  list(select = columns, drop = if (length(without) > 0L) without, classes = classes[classes != "NULL"])
}

# The names of the columns that a selection reads.
csv_chosen <- function(chosen, all) {
  lost <- setdiff(c(chosen$select, chosen$drop), all)
  if (length(lost) > 0L) {
    abort("argument", paste0("there is no column '", substr(lost[1L], 1L, 60L), "'"), list(column = lost[1L]))
  }
  if (is.null(chosen$select)) setdiff(all, chosen$drop) else chosen$select
}
