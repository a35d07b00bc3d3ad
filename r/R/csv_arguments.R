# Arguments of the readers of text files: those of fread() keep their names and meanings.

# Arguments of fread() that are not in the usage, with the values that change nothing here.
FREAD_HARMLESS <- list(
  verbose = list(FALSE), showProgress = list(TRUE, FALSE), yaml = list(FALSE), tz = list("UTC"),
  logical01 = list(FALSE),
  keepLeadingZeros = list(TRUE), index = list(NULL), tmpdir = NULL, blank.lines.skip = list(TRUE),
  autostart = list(NA), cmd = list(NULL)
)

FREAD_ADVICE <- c(
  cmd = "a file never runs code here: run the command with system2(), and read what it writes",
  yaml = "a header in YAML is not read: pass skip and colClasses",
  tz = "times without an offset are in UTC: pass colClasses = \"character\" and convert them",
  logical01 = "0 and 1 are integers: convert the column after reading",
  keepLeadingZeros = "a number with leading zeros is text: convert the column with as.integer()",
  index = "use data.table::setindex() after reading",
  blank.lines.skip = "blank lines are left out, but for files of one column, where they are missing values",
  verbose = "sniff_csv_entasis() shows what is found and why",
  autostart = "use 'skip'",
  data.table = "use as = \"data.table\" or as = \"data.frame\"",
  stringsAsFactors = "use TRUE or FALSE",
  col_names = "use 'header' and 'col.names'",
  col_types = "use 'colClasses'",
  col_select = "use 'select'",
  na = "use 'na.strings'",
  n_max = "use 'nrows'",
  delim = "use 'sep'",
  nThreads = "use 'nThread'"
)

# Refuses arguments that are not in the usage, unless they ask for nothing.
refuse_others <- function(harmless, advice, ...) {
  given <- list(...)
  names <- if (is.null(names(given))) rep_len("", length(given)) else names(given)
  for (k in seq_along(given)) {
    if (any(vapply(harmless[[names[k]]], identical, NA, given[[k]]))) next
    if (names[k] %in% names(advice)) wrong("'", names[k], "' is not supported with this value: ", advice[[names[k]]])
    wrong("unused argument", if (names[k] != "") paste0(" '", names[k], "'"))
  }
}

# The texts to read: paths and raw vectors, each with its name in messages.
csv_sources <- function(file, text) {
  if (!is.null(text)) {
    if (!missing(file)) wrong("pass 'file' or 'text', not both")
    if (!is.character(text) || anyNA(text)) must_be("text", "a character vector without NA", text)
    return(list(from = list(charToRaw(paste0(enc2utf8(text), "\n", collapse = ""))), names = "<text>", are_text = TRUE))
  }
  if (missing(file)) wrong("pass the path of a text file as 'file', or its lines as 'text'")
  if (is.raw(file)) {
    return(list(from = list(file), names = "<raw>"))
  }
  if (inherits(file, "connection")) {
    wrong("'file' must be a path or a raw vector, not a connection: pass text = readLines(file)")
  }
  if (is.list(file) && !is.object(file)) {
    parts <- lapply(file, function(one) csv_sources(one, NULL))
    if (length(parts) == 0L) wrong("there are no texts to read: 'file' is an empty list")
    return(
      list(from = unlist(lapply(parts, `[[`, "from"), recursive = FALSE), names = unlist(lapply(parts, `[[`, "names")))
    )
  }
  if (!is.character(file) || length(file) == 0L || anyNA(file)) {
    must_be("file", "a path, several paths, or a raw vector", file)
  }
  paths <- unlist(lapply(file, paths_of))
  list(from = as.list(enc2native(path.expand(paths))), names = paths)
}

# The files that a path or a pattern names.
paths_of <- function(path) {
  if (grepl("[\n\r]", path)) wrong("'file' has a line end: pass the lines of a text as 'text'")
  if (grepl("^(https?|ftps?)://", path)) wrong("'file' is an address: download it with download.file() first")
  if (path == "") wrong("'file' is an empty string")
  if (!grepl("[*?[]", path) || file.exists(path)) {
    return(path)
  }
  found <- sort(Sys.glob(path.expand(path)), method = "radix")
  found <- found[!dir.exists(found)]
  if (length(found) == 0L) wrong("no file matches the pattern \"", substr(path, 1L, 200L), "\"")
  found
}

# A value that was found out unless it is given.
unless_auto <- function(x, name, words = "auto") {
  if (is.null(x) || identical(x, words)) {
    return(NULL)
  }
  if (!is.character(x) || length(x) != 1L || is.na(x)) must_be(name, "a string", x)
  enc2utf8(x)
}

check_strings <- function(x, name) {
  if (!is.character(x) || anyNA(x)) must_be(name, "a character vector without NA", x)
  enc2utf8(x)
}

flag_text <- function(x, name) if (check_flag(x, name)) "true" else "false"

# Arguments of the core, from those of fread() that say how a text is written.
csv_form <- function(sep, dec, quote, header, skip, comment.char, escape, thousands, encoding, strip.white) {
  if (!identical(header, "auto") && !is.null(header)) header <- flag_text(header, "header") else header <- NULL
  if (is.character(skip) && !skip[1L] %in% c("auto", "__auto__")) {
    wrong("'skip' must be a number of lines: a text to search for is not supported")
  }
  skip <- if (!is.null(skip) && !is.character(skip)) format(check_whole(skip, "skip", 0, 1e9), scientific = FALSE)
  # fread() marks strings, while a text is converted here.
  encodings <- c("UTF-8" = "utf-8", "Latin-1" = "latin1")
  encoding <- unless_auto(encoding, "encoding", "unknown")
  if (!is.null(encoding) && encoding %in% names(encodings)) encoding <- encodings[[encoding]]
  form <- list(
    sep = unless_auto(sep, "sep"), dec = unless_auto(dec, "dec"), quote = unless_auto(quote, "quote"),
    header = header, skip = skip,
    comment.char = unless_auto(comment.char, "comment.char"), escape = unless_auto(escape, "escape"),
    thousands = unless_auto(thousands, "thousands", ""), encoding = encoding,
    strip.white = flag_text(strip.white, "strip.white")
  )
  form[lengths(form) > 0L]
}

# Columns by name. Numbers and masks count among the names that `all_names` returns.
csv_columns <- function(x, name, all_names) {
  if (is.character(x)) {
    return(check_strings(x, name))
  }
  if (!is.numeric(x) && !is.logical(x)) must_be(name, "names or numbers of columns", x)
  all <- all_names()
  if (is.logical(x)) {
    if (length(x) != length(all) || anyNA(x)) {
      wrong("'", name, "' must have TRUE or FALSE for each of ", counted(length(all), "column"))
    }
    return(all[x])
  }
  bad <- is.na(x) | x < 1 | x > length(all) | x != trunc(x)
  if (any(bad)) wrong("'", name, "' has ", what_is(x[bad][1L]), ", and the text has ", counted(length(all), "column"))
  all[x]
}

# The types of the core for those of colClasses.
CSV_TYPES <- c(
  character = "string", integer = "int32", numeric = "float64", double = "float64", logical = "bool",
  integer64 = "int64",
  factor = "categorical", Date = "date", IDate = "date", POSIXct = NA, "NULL" = NA
)

# The classes of columns by their names, from colClasses: a vector by name or by position, or a list
# of columns by class.
csv_classes <- function(colClasses, name, all_names) {
  if (is.null(colClasses)) {
    return(character())
  }
  if (is.list(colClasses)) {
    if (is.null(names(colClasses))) wrong("'", name, "' must have a name for each element: the class of these columns")
    columns <- lapply(colClasses, csv_columns, name, all_names)
    classes <- rep(names(colClasses), lengths(columns))
    names(classes) <- unlist(columns)
  } else {
    if (!is.character(colClasses) && !all(is.na(colClasses))) must_be(name, "names of classes", colClasses)
    classes <- colClasses
    if (is.null(names(classes))) {
      all <- all_names()
      if (length(classes) == 1L) classes <- rep_len(classes, length(all))
      if (length(classes) != length(all)) {
        wrong(
          "'", name, "' has ", length(classes), " classes without names, and the text has ",
          counted(length(all), "column")
        )
      }
      names(classes) <- all
    }
  }
  names(classes) <- enc2utf8(names(classes))
  classes <- classes[!is.na(classes) & !classes %in% c("", "auto")]
  unknown <- setdiff(classes, names(CSV_TYPES))
  if (length(unknown) > 0L) {
    wrong(
      "'", name, "' has the class \"", substr(unknown[1L], 1L, 60L),
      "\", which a text does not give: read the column as \"character\" and convert it"
    )
  }
  again <- anyDuplicated(names(classes))
  if (again > 0L) wrong("'", name, "' names the column '", names(classes)[again], "' twice")
  classes
}

# Formats of dates for the core.
csv_dates <- function(dates) {
  if (is.null(dates)) {
    return(NULL)
  }
  formats <- if (is.list(dates)) dates else if (is.null(names(dates))) list(dates) else as.list(dates)
  bad <- !vapply(formats, function(x) is.character(x) && length(x) > 0L && !anyNA(x), NA)
  if (any(bad)) wrong("'dates' must be formats such as \"%d/%m/%Y\", or a list of formats by the names of columns")
  names <- names(formats)
  if (is.null(names)) names <- rep_len("", length(formats))
  single <- names != ""
  list(
    dates = if (any(!single)) enc2utf8(unlist(formats[!single], use.names = FALSE)),
    date_columns = enc2utf8(rep(names[single], lengths(formats[single]))),
    date_formats = enc2utf8(as.character(unlist(formats[single], use.names = FALSE)))
  )
}

# The codes of readings for the core.
CSV_READ <- 0L
CSV_SNIFF <- 1L
CSV_SNIFF_ALL <- 2L
CSV_SCAN <- 3L

# Calls the core. NULL if it can't test a condition.
csv_call <- function(sources, arguments, what = CSV_READ, condition = NULL) {
  found <- .Call(C_csv_read, sources$from, sources$names, lapply(arguments, as.character), what, condition)
  if (!is.null(condition) && inherits(found, "entasis_failure") && found$kind %in% c("argument", "unsupported")) {
    return(NULL)
  }
  csv_result(found)
}

# A result of the core, whose messages name arguments of Python.
csv_result <- function(found) {
  if (inherits(found, "entasis_failure")) {
    found$message <- csv_words(found$message)
    core(found)
  }
  if (is.list(found)) found$warnings <- csv_words(found$warnings)
  found
}

# Names of arguments in messages, as R has them.
csv_words <- function(text) {
  words <- c(
    "header=True or header=False" = "header = TRUE or header = FALSE", "quote=None" = "quote = \"\"",
    "comment=None" = "comment.char = \"\"", "cannot opening the text" = "cannot open",
    "cannot reading again" = "cannot read again",
    "cannot reading a sample" = "cannot read a sample", "cannot keeping" = "cannot keep",
    "cannot starting" = "cannot start", "decimal=" = "dec=", "threads=1" = "nThread = 1"
  )
  for (word in names(words)) text <- gsub(word, words[[word]], text, fixed = TRUE)
  gsub("comment='(.)'", "comment.char = \"\\1\"", text)
}
