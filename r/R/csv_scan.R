# scan_csv_entasis(): text files whose rows are read when a function asks for them.
#
# A scan has these parts:
# - `sources`, `form`: the texts, and the options of the core, which open them again.
# - `held`: the opened texts (`table`), and the number of rows once they were counted (`n`).
# - `all`, `types`: the columns of the texts, and their types, which never change.
# - `classes`, `integer64`: how columns become vectors.
# - `columns`, `names`: the columns that are left, as in the text, and as they are called.
# - `condition`, `rest`, `tests`: the condition for the core, the parts that R evaluates for each
#   batch, and the conditions as they were written.
# - `limit`: the most rows, or NULL.

scan_csv_entasis <- function(file, sep = "auto", dec = "auto", quote = "auto", header = "auto", na.strings = "NA", skip = "auto",
                             select = NULL, drop = NULL, colClasses = NULL, fill = FALSE, encoding = "unknown",
                             stringsAsFactors = FALSE,
                             integer64 = c("integer64", "double", "character"), text = NULL, nThread = NULL,
                             comment.char = "auto",
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
                columns = columns, names = columns, condition = NULL, rest = list(), tests = list(), limit = NULL))
}

SCAN_ADVICE <- c(
  nrows = "head(x, n) reads the first rows", col.names = "rename the columns of the rows that are read",
  key = "sort the rows that are read",
  check.names = "use make.names() on the names of the rows that are read",
  as = "convert the rows that are read, as with tibble::as_tibble(x)",
  subset = "use subset(x, condition)"
)

new_scan <- function(parts) lazy_object(list2env(parts, parent = emptyenv()), "entasis_csv_scan")

# A scan with other parts. Its rows are not counted.
changed_scan <- function(x, ...) {
  parts <- as.list.environment(lazy_content(x), all.names = TRUE)
  new <- list(...)
  parts[names(new)] <- new
  is_other <- any(c("condition", "rest", "limit") %in% names(new))
  if (is_other) parts$held <- list2env(list(table = parts$held$table), parent = emptyenv())
  new_scan(parts)
}

# The scan of some columns, which may have new names.
scan_of_columns <- function(x, which, names = lazy_content(x)$names[which]) {
  if (anyDuplicated(which) > 0L) {
    wrong(
      "a column of a text can be selected once: '", lazy_content(x)$names[which[anyDuplicated(which)]],
      "' is named twice"
    )
  }
  changed_scan(x, columns = lazy_content(x)$columns[which], names = names)
}

# The scan of the rows for which another condition is true as well.
filtered_scan <- function(x, condition, caller) {
  parts <- lazy_content(x)
  if (!is.null(parts$limit)) wrong("a condition after a limit would leave fewer rows than the limit: filter first")
  of <- parts$types[match(parts$columns, parts$all)]
  forms <- Map(scan_forms, of, parts$classes[parts$columns], parts$integer64)
  plan <- csv_plan(parts$names, parts$columns, forms, condition, caller, as.character(parts$condition$columns))
  conditions <- conjuncts(plan, plan$condition)
  trees <- lapply(conditions, csv_tree, plan = plan)
  is_core <- !vapply(trees, is.null, NA)
  plan$columns <- lapply(seq_along(parts$names), function(k) list(list(class = class_of_scan(parts, k))))
  names(plan$columns) <- seq_along(parts$names)
  is_by_row <- vapply(conditions, is_by_row, NA, plan = plan)
  if (!all(is_core | is_by_row)) refuse_condition(conditions[!is_core & !is_by_row][[1L]])
  tree <- joined("and", c(if (!is.null(parts$condition)) list(parts$condition$tree), trees[is_core]))
  rest <- lapply(conditions[!is_core], function(e) {
    used <- intersect(all.vars(e), parts$names)
    list(
      condition = e, names = used, columns = parts$columns[match(used, parts$names)],
      is_single = length(conditions) == 1L
    )
  })
  changed_scan(
    x, condition = if (length(tree) > 1L) list(columns = plan$tested, tree = tree), rest = c(parts$rest, rest),
    tests = c(parts$tests, list(condition))
  )
}

refuse_condition <- function(e) {
  shown <- cut_text(paste(trimws(deparse(e, width.cutoff = 500L)), collapse = " "), 200L)
  abort("unsupported", paste0(
    "not supported: the condition ", shown,
    " can't be tested while the text is read, because its value for a row may depend on other rows; ",
    "use comparisons and functions of base R that treat each row by itself, or read the rows with x[] and filter these"
  ))
}

# The class of the vectors of a column, or NULL for vectors without a class.
class_of_scan <- function(parts, k) {
  switch(
    type_of_scan(parts, k), int64 = "integer64", date = "Date", IDate = c("IDate", "Date"),
    dttm = c("POSIXct", "POSIXt"), fct = "factor", NULL
  )
}

# The kinds of a column whose type is known.
scan_forms <- function(of, class, integer64) {
  forms <- csv_forms(class, integer64)
  if (of == "int64" && integer64 == "integer64" || class %in% "integer64") {
    wide <- unname(forms[names(forms) == "wide"])
    return(if (length(wide) > 0L) c(int64 = wide, wide = wide) else integer())
  }
  if (of == "categorical") c(categorical = CODES) else forms[names(forms) == sub("[[].*", "", of)]
}

limited_scan <- function(x, n) {
  limit <- lazy_content(x)$limit
  changed_scan(x, limit = if (is.null(limit)) n else min(n, limit))
}

# The type of a column as one word, as print() of an open table shows it.
type_of_scan <- function(parts, k) {
  name <- parts$columns[k]
  class <- parts$classes[name]
  if (class %in% c("IDate", "POSIXct")) {
    return(if (class == "IDate") "IDate" else "dttm")
  }
  of <- sub("[[].*", "", parts$types[match(name, parts$all)])
  wide <- c(
    integer64 = "int64", double = "dbl", character = "chr"
  )[[if (class %in% "integer64") class else parts$integer64]]
  switch(of, null = , bool = "lgl", int32 = "int", int64 = wide, uint64 = if (parts$integer64 == "double") "dbl" else "chr", float64 = "dbl",
         date = "date", datetime = "dttm", categorical = "fct", string = "chr", of)
}
