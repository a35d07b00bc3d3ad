# scan_csv_entasis(): text files whose rows are read when a function asks for them.
#
# A scan has these parts:
# - `sources`, `form`: the texts, and the options of the core, which open them again.
# - `held`: the opened texts (`table`), and the number of rows once they were counted (`n`).
# - `all`, `types`: the columns of the texts, and their types, which never change.
# - `classes`, `integer64`: how columns become vectors.
# - `columns`, `names`: the columns that are left, as in the text, and as they are called.
# - `condition`, `tests`: the condition for the core, and as it was written.
# - `limit`: the most rows, or NULL.

scan_csv_entasis <- function(file, sep = "auto", dec = "auto", quote = "auto", header = "auto", na.strings = "NA", skip = "auto",
                             select = NULL, drop = NULL, colClasses = NULL, fill = FALSE, encoding = "unknown", stringsAsFactors = FALSE,
                             integer64 = c("integer64", "double", "character"), text = NULL, nThread = NULL, comment.char = "auto",
                             strip.white = TRUE, escape = "auto", thousands = NULL, dates = NULL, id = NULL,
                             on_error = c("error", "missing", "skip"), spec = NULL, max_field = 64 * 2^20, ...) {
  refuse_others(FREAD_HARMLESS, c(FREAD_ADVICE, SCAN_ADVICE), ...)
  sources <- csv_sources(file, text)
  words <- if (is.null(spec) || !missing(na.strings)) csv_words_of_missing(na.strings)
  form <- csv_options(sources, sep, dec, quote, header, words, skip, fill, encoding, nThread, comment.char, strip.white, escape, thousands,
                      dates, on_error, spec, max_field)
  integer64 <- check_choice(integer64, "integer64", c("integer64", "double", "character"))
  chosen <- csv_selection(select, drop, colClasses, csv_names_of(sources, form))
  form <- csv_typed(form, chosen$classes, stringsAsFactors, id)
  found <- csv_call(sources, form, CSV_SCAN)
  is_text <- found$types == "int64" & found$fits == 3 & !found$names %in% form$type_columns & integer64 != "double"
  if (any(is_text)) {
    form$type_columns <- c(form$type_columns, found$names[is_text])
    form$types <- c(form$types, rep_len("string", sum(is_text)))
    found <- csv_call(sources, form, CSV_SCAN)
  }
  for (text in found$warnings) warn_of_text(text)
  all <- c(form$id, found$all_names)
  types <- c(if (!is.null(form$id)) "categorical", found$spec_types)
  columns <- c(form$id, csv_chosen(chosen, found$all_names))
  if (anyDuplicated(columns) > 0L) wrong("'", if (columns[1L] %in% columns[-1L]) "id" else "select", "' names the column '", columns[anyDuplicated(columns)], "' again")
  held <- list2env(list(table = found$table), parent = emptyenv())
  new_scan(list(sources = sources, form = form, held = held, all = all, types = types, classes = chosen$classes, integer64 = integer64,
                columns = columns, names = columns, condition = NULL, tests = list(), limit = NULL))
}

SCAN_ADVICE <- c(
  nrows = "head(x, n) reads the first rows", col.names = "rename the columns of the rows that are read", key = "sort the rows that are read",
  check.names = "use make.names() on the names of the rows that are read", as = "convert the rows that are read, as with tibble::as_tibble(x)",
  subset = "use subset(x, condition)"
)

new_scan <- function(parts) lazy_object(list2env(parts, parent = emptyenv()), "entasis_csv_scan")

# A scan with other parts. Its rows are not counted.
changed_scan <- function(x, ...) {
  parts <- as.list.environment(lazy_content(x), all.names = TRUE)
  new <- list(...)
  parts[names(new)] <- new
  is_other <- any(c("condition", "limit") %in% names(new))
  if (is_other) parts$held <- list2env(list(table = parts$held$table), parent = emptyenv())
  new_scan(parts)
}

# The scan of some columns, which may have new names.
scan_of_columns <- function(x, which, names = lazy_content(x)$names[which]) {
  if (anyDuplicated(which) > 0L) wrong("a column of a text can be selected once: '", lazy_content(x)$names[which[anyDuplicated(which)]], "' is named twice")
  changed_scan(x, columns = lazy_content(x)$columns[which], names = names)
}

# The scan of the rows for which another condition is true as well.
filtered_scan <- function(x, condition, caller) {
  parts <- lazy_content(x)
  if (!is.null(parts$limit)) wrong("a condition after a limit would leave fewer rows than the limit: filter first")
  classes <- parts$classes[parts$columns]
  of <- parts$types[match(parts$columns, parts$all)]
  forms <- Map(scan_forms, of, classes, parts$integer64)
  found <- csv_condition(parts$names, parts$columns, forms, condition, caller, as.character(parts$condition$columns))
  if (is.null(found)) {
    shown <- cut_text(paste(trimws(deparse(condition, width.cutoff = 500L)), collapse = " "), 200L)
    abort("unsupported", paste0(
      "not supported: the condition ", shown, " can't be tested while the text is read; compare columns with values by ==, !=, <, <=, >, >=, ",
      "%in%, is.na(), startsWith() or endsWith(), joined by &, | and !, or read the rows with x[] and filter these"
    ))
  }
  if (!is.null(parts$condition)) found$tree <- joined("and", list(parts$condition$tree, found$tree))
  changed_scan(x, condition = found, tests = c(parts$tests, list(condition)))
}

# The kinds of a column whose type is known.
scan_forms <- function(of, class, integer64) {
  forms <- csv_forms(class, integer64)
  if (of == "int64" && integer64 == "integer64" || class %in% "integer64") {
    forms <- forms[names(forms) == "wide"]
    return(c(forms, int64 = forms[["wide"]])[rep_len(length(forms) > 0L, 2L)])
  }
  if (of == "categorical") c(categorical = CODES) else forms[names(forms) == sub("[[].*", "", of)]
}

limited_scan <- function(x, n) {
  limit <- lazy_content(x)$limit
  changed_scan(x, limit = if (is.null(limit)) n else min(n, limit))
}
