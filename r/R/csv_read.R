# read_csv_entasis(): reads a text file into a data frame.

read_csv_entasis <- function(file, sep = "auto", dec = "auto", quote = "auto", header = "auto", na.strings = "NA", skip = "auto",
                             nrows = Inf, select = NULL, drop = NULL, colClasses = NULL, col.names = NULL, fill = FALSE,
                             encoding = "unknown", stringsAsFactors = FALSE,
                             integer64 = c("integer64", "double", "character"),
                             key = NULL, text = NULL, nThread = NULL, comment.char = "auto", strip.white = TRUE,
                             check.names = FALSE,
                             escape = "auto", thousands = NULL, dates = NULL, id = NULL,
                             on_error = c("error", "missing", "skip"),
                             spec = NULL, max_field = 64 * 2^20, as = c("data.frame", "tibble", "data.table"), subset, ...) {
  as <- check_choice(as, "as", c("data.frame", "tibble", "data.table"))
  refuse_others(FREAD_HARMLESS, FREAD_ADVICE, ...)
  sources <- csv_sources(file, text)
  words <- if (is.null(spec) || !missing(na.strings)) csv_words_of_missing(na.strings)
  form <- csv_options(sources, sep, dec, quote, header, words, skip, fill, encoding, nThread, comment.char, strip.white, escape, thousands,
                      dates, on_error, spec, max_field)
  n <- if (!identical(nrows, Inf) && !isTRUE(nrows == -1)) check_whole(nrows, "nrows", 0)
  integer64 <- check_choice(integer64, "integer64", c("integer64", "double", "character"))
  all_names <- csv_names_of(sources, form)
  chosen <- csv_selection(select, drop, colClasses, all_names)
  form <- csv_typed(form, chosen$classes, stringsAsFactors, id)
  form$select <- chosen$select
  form$drop <- chosen$drop
  # Rows that are left out do not count, and only the whole text says which these are.
  if (!is.null(n) && form$on_error != "skip") form$nrows <- format(n, scientific = FALSE)
  wanted <- NULL
  if (!missing(subset) && !is.null(substitute(subset))) {
    columns <- c(form$id, csv_chosen(chosen, all_names()))
    shown <- c(columns, setdiff(all_names(), columns))
    names <- csv_names(columns, col.names, id, check.names)
    wanted <- list(
      condition = substitute(subset), caller = parent.frame(), columns = columns,
      names = c(names, shown[-seq_along(columns)]), shown = shown
    )
  }
  csv <- csv_filtered(sources, form, wanted, chosen$classes, integer64)
  is_filtered <- is.null(wanted) || !is.null(csv)
  if (is.null(csv)) csv <- csv_call(sources, csv_with_tested(form, wanted))
  if (!is.null(csv$refused)) refuse_text(csv)
  if (csv$counts[1L] > .Machine$integer.max) {
    abort("unsupported", "not supported: a data frame has at most 2^31 - 1 rows; read some of them with 'nrows'")
  }
  columns <- csv_vectors(csv, chosen$classes, integer64, form$nThread)
  n_rows <- csv$counts[1L]
  if (!is.null(n) && form$on_error == "skip" && n < n_rows) {
    n_rows <- n
    columns <- lapply(columns, some_of_vector, seq_len(n))
  }
  if (!is_filtered) {
    found <- csv_passing(columns, csv$names, n_rows, wanted)
    columns <- found$columns
    n_rows <- found$n_rows
  }
  names <- csv_names(if (is_filtered) csv$names else wanted$columns, col.names, id, check.names)
  frame <- decorate(columns, list(names = names, class = "data.frame", row.names = c(NA, -as.integer(n_rows))))
  for (text in csv$warnings) warn_of_text(text)
  frame <- csv_frame(frame, as, key)
  with_problems(frame, csv)
}

# The rows that pass, if the core can test the whole condition; NULL if R has to read all rows.
csv_filtered <- function(sources, form, wanted, classes, integer64) {
  if (is.null(wanted)) {
    return(csv_call(sources, form))
  }
  forms <- lapply(wanted$shown, function(name) csv_forms(classes[name], integer64))
  if (!is.null(form$nrows)) return(NULL)
  tested <- tryCatch(
    csv_condition(wanted$names, wanted$shown, forms, wanted$condition, wanted$caller), error = function(e) NULL
  )
  if (!is.null(tested)) csv_call(sources, form, condition = tested)
}

# The options for all columns that a condition may use.
csv_with_tested <- function(form, wanted) {
  used <- if (any(all.names(wanted$condition) %in% PEEKERS)) wanted$shown else wanted$shown[wanted$names %in% all.vars(wanted$condition)]
  form$select <- setdiff(c(wanted$columns, used), form$id)
  form$drop <- NULL
  form
}

# The columns in the rows for which R evaluates a condition to TRUE, as by subset().
csv_passing <- function(columns, names, n_rows, wanted) {
  shown <- wanted$names[match(names, wanted$shown)]
  passes <- eval(wanted$condition, scope_of(shown, function(k) columns[[k]], wanted$caller))
  if (!is.logical(passes)) wrong("'subset' must be logical")
  rows <- which(rep_len(passes, n_rows))
  list(columns = lapply(columns[match(wanted$columns, names)], some_of_vector, rows), n_rows = length(rows))
}

csv_names <- function(names, col.names, id, check.names) {
  if (!is.null(col.names)) {
    new <- check_strings(col.names, "col.names")
    own <- seq_along(names) > !is.null(id)
    if (length(new) != sum(own)) {
      wrong("'col.names' has ", counted(length(new), "name"), " for ", counted(sum(own), "column"))
    }
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
