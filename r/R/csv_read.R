# read_csv_entasis(): reads a text file into a data frame.

read_csv_entasis <- function(file, sep = "auto", dec = "auto", quote = "auto", header = "auto", na.strings = "NA", skip = "auto",
                             nrows = Inf, select = NULL, drop = NULL, colClasses = NULL, col.names = NULL, fill = FALSE,
                             encoding = "unknown", stringsAsFactors = FALSE, integer64 = c("integer64", "double", "character"),
                             key = NULL, text = NULL, nThread = NULL, comment.char = "auto", strip.white = TRUE, check.names = FALSE,
                             escape = "auto", thousands = NULL, dates = NULL, id = NULL, on_error = c("error", "missing", "skip"),
                             spec = NULL, max_field = 64 * 2^20, as = c("data.frame", "tibble", "data.table"), ...) {
  as <- check_choice(as, "as", c("data.frame", "tibble", "data.table"))
  refuse_others(FREAD_HARMLESS, FREAD_ADVICE, ...)
  sources <- csv_sources(file, text)
  if (isTRUE(sources$are_text)) encoding <- "UTF-8"
  form <- csv_form(sep, dec, quote, header, skip, comment.char, escape, thousands, encoding, strip.white)
  form$spec <- if (!is.null(spec)) csv_spec_text(spec)
  if (is.null(spec) || !missing(na.strings)) form$na.strings <- setdiff(if (!is.null(na.strings)) check_strings(na.strings, "na.strings"), "")
  form$fill <- flag_text(fill, "fill")
  form$on_error <- check_choice(on_error, "on_error", c("error", "missing", "skip"))
  form$max_field <- format(check_whole(max_field, "max_field", 1, 2^31 - 1), scientific = FALSE)
  if (!is.null(nThread)) form$nThread <- check_whole(nThread, "nThread", 1, MOST_THREADS)
  form <- c(form, csv_dates(dates))
  n <- if (!identical(nrows, Inf) && !isTRUE(nrows == -1)) check_whole(nrows, "nrows", 0)
  integer64 <- check_choice(integer64, "integer64", c("integer64", "double", "character"))
  known <- NULL
  all_names <- function() {
    if (is.null(known)) known <<- csv_call(sources, c(form, nrows = "0"))$all_names
    known
  }
  chosen <- csv_selection(select, drop, colClasses, all_names)
  given <- chosen$classes[!is.na(CSV_TYPES[chosen$classes])]
  form$type_columns <- names(given)
  form$types <- unname(CSV_TYPES[given])
  form$select <- chosen$select
  form$drop <- chosen$drop
  form$stringsAsFactors <- flag_text(stringsAsFactors, "stringsAsFactors")
  form$id <- if (!is.null(id)) unless_auto(id, "id", character())
  # Rows that are left out do not count, and only the whole text says which these are.
  if (!is.null(n) && form$on_error != "skip") form$nrows <- format(n, scientific = FALSE)
  csv <- csv_call(sources, form)
  if (!is.null(csv$refused)) refuse_text(csv)
  if (csv$counts[1L] > .Machine$integer.max) {
    abort("unsupported", "not supported: a data frame has at most 2^31 - 1 rows; read some of them with 'nrows'")
  }
  columns <- csv_vectors(csv, chosen$classes, integer64, form$nThread)
  names <- csv_names(csv$names, col.names, id, check.names)
  frame <- decorate(columns, list(names = names, class = "data.frame", row.names = c(NA, -as.integer(csv$counts[1L]))))
  if (!is.null(n) && form$on_error == "skip" && n < csv$counts[1L]) frame <- head(frame, n)
  for (text in csv$warnings) warn_of_text(text)
  frame <- csv_frame(frame, as, key)
  with_problems(frame, csv)
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

# The columns as vectors of R.
csv_vectors <- function(csv, classes, integer64, threads) {
  of <- csv$types
  classes <- classes[match(csv$names, names(classes))]
  wide <- function(is_given) if (is_given) INTEGER64 else c(integer64 = INTEGER64, double = DOUBLE, character = CHARACTER)[[integer64]]
  kinds <- vapply(seq_along(of), function(i) {
    is_given <- classes[i] %in% "integer64"
    fits <- csv$fits[i]
    switch(of[i],
      null = , bool = LOGICAL, int32 = INTEGER, float64 = DOUBLE, date = DAYS, categorical = CODES, string = CHARACTER,
      int64 = if (fits == 0 && !is_given) INTEGER else if (fits == 3 && !is_given && integer64 != "double") CHARACTER else wide(is_given),
      uint64 = if (integer64 == "double") DOUBLE else CHARACTER,
      if (startsWith(of[i], "datetime")) INSTANT else NA_integer_
    )
  }, 0L)
  if (anyNA(kinds)) abort("unsupported", paste0("not supported: column '", csv$names[is.na(kinds)][1L], "' of type ", of[is.na(kinds)][1L]))
  beyond <- kinds == INTEGER64 & csv$fits == 3
  if (any(beyond)) abort("text", paste0("column '", csv$names[beyond][1L], "' has -9223372036854775808, which is NA in integer64; read it as \"character\""))
  rounded <- kinds == DOUBLE & !is.na(csv$rounded)
  if (any(rounded)) {
    warn_of_text(paste0("integers beyond 2^53 lost digits as doubles in ", listed(csv$names[rounded]), ", the first is ", csv$rounded[rounded][1L]))
  }
  columns <- core(.Call(C_csv_fill, csv$table, kinds, if (is.null(threads)) 0L else as.integer(threads)))
  if (any(kinds == INTEGER64) && !requireNamespace("bit64", quietly = TRUE)) {
    warn_of_text("values of class integer64 print and compute as other numbers without the package bit64: install it, or pass integer64 = \"double\"")
  }
  for (i in which(kinds %in% c(INTEGER64, DAYS, INSTANT))) columns[[i]] <- decorate(columns[[i]], implied(kinds[i], zone = "UTC"))
  for (i in which(classes %in% c("IDate", "POSIXct"))) columns[[i]] <- csv_times(columns[[i]], classes[[i]], of[i], csv$names[i])
  as_given <- which(of == "null" & !is.na(classes))
  for (i in as_given) columns[[i]] <- missing_of(classes[[i]], length(columns[[i]]), columns[[i]])
  columns
}

# A column of only missing values in the class that was asked for.
missing_of <- function(class, n, otherwise) {
  switch(class, POSIXct = .POSIXct(rep_len(NA_real_, n), "UTC"), otherwise)
}

# A column in the class of a time that was asked for.
csv_times <- function(x, class, of, name) {
  if (class == "IDate") {
    return(structure(as.integer(x), class = c("IDate", "Date")))
  }
  if (of == "date") {
    return(.POSIXct(86400 * as.double(x), "UTC"))
  }
  if (of != "null" && !inherits(x, "POSIXct")) {
    abort("text", paste0("column '", name, "' is not times by ISO 8601 but ", of, ": pass their format in 'dates', or read it as \"character\""))
  }
  x
}

csv_names <- function(names, col.names, id, check.names) {
  if (!is.null(col.names)) {
    new <- check_strings(col.names, "col.names")
    own <- seq_along(names) > !is.null(id)
    if (length(new) != sum(own)) wrong("'col.names' has ", counted(length(new), "name"), " for ", counted(sum(own), "column"))
    names[own] <- new
  }
  if (check_flag(check.names, "check.names")) make.names(names, unique = TRUE) else names
}

csv_frame <- function(frame, as, key) {
  if (!is.null(key) && as != "data.table") wrong("'key' is for as = \"data.table\"")
  if (as == "tibble") {
    if (!requireNamespace("tibble", quietly = TRUE)) wrong("as = \"tibble\" needs the package tibble")
    class(frame) <- c("tbl_df", "tbl", "data.frame")
  } else if (as == "data.table") {
    frame <- as_table_frame(frame, "as = \"data.table\"")
    if (!is.null(key)) {
      if (length(key) == 1L && is.character(key)) key <- strsplit(key, ",", fixed = TRUE)[[1L]]
      bad <- setdiff(key, names(frame))
      if (length(bad) > 0L) wrong("'key' has ", listed(bad), ", which is not a column that is read")
      data.table::setkeyv(frame, key)
    }
  }
  frame
}

warn_of_text <- function(text) {
  warning(structure(list(message = text, call = NULL), class = c("entasis_warning_text", "warning", "condition")))
}

# The problems that were found, as a data frame.
problems_of <- function(csv) {
  found <- data.frame(row = csv$rows + 1, line = csv$lines, byte = csv$bytes, column = csv$columns, text = csv$texts, expected = csv$expected, stringsAsFactors = FALSE)
  if (!all(is.na(csv$files))) found$file <- csv$files
  found
}

with_problems <- function(frame, csv) {
  n <- csv$counts[2L]
  if (n == 0) {
    return(frame)
  }
  found <- problems_of(csv)
  if (inherits(frame, "data.table")) data.table::setattr(frame, "problems", found) else attr(frame, "problems") <- found
  first <- found[1L, ]
  where <- paste0("line ", shown_number(first$line), if (!is.na(first$column)) paste0(", column '", substr(first$column, 1L, 60L), "'"))
  text <- paste0(counted(n, "problem"), ", the first in ", where, ": attr(x, \"problems\") lists them")
  warning(structure(list(message = text, call = NULL, problems = found), class = c("entasis_warning_problems", "warning", "condition")))
  frame
}

# Raises the error of a text with places that do not fit. Its field `problems` lists them.
refuse_text <- function(csv) {
  failure <- csv$refused
  message <- paste0(csv_words(failure$message), "; on_error = \"missing\" or \"skip\" reads the rest")
  tryCatch(abort(failure$kind, message, unclass(failure)), entasis_error = function(error) {
    error$problems <- problems_of(csv)
    error$call <- users_call()
    stop(error)
  })
}
