# write_csv_entasis(): writes a data frame or the table of a file as text.

# Arguments of fwrite() that are not in the usage, with the values that change nothing here.
FWRITE_HARMLESS <- list(
  verbose = list(FALSE), showProgress = list(TRUE, FALSE), qmethod = list("double"), dateTimeAs = list("ISO"),
  logical01 = list(FALSE),
  yaml = list(FALSE), scipen = NULL, buffMB = NULL, encoding = list("", "UTF-8"), logicalAsInt = list(FALSE),
  sep2 = NULL
)

FWRITE_ADVICE <- c(
  qmethod = "quotes in a text are doubled, which every reader takes",
  dateTimeAs = "times are written by ISO 8601: convert the column for another form",
  logical01 = "convert the column with as.integer()",
  logicalAsInt = "convert the column with as.integer()",
  yaml = "the spec that is returned has the types: saveRDS(), or writeLines(format(...))",
  scipen = "numbers have the fewest digits that read back as them",
  buffMB = "memory does not grow with the table",
  encoding = "texts are written in UTF-8",
  sep2 = "a list column has no form in a text",
  delim = "use 'sep'", row_names = "use 'row.names'", digits = "numbers have the fewest digits that read back as them"
)

write_csv_entasis <- function(x, file, append = FALSE, quote = "auto", sep = ",", eol = "\n", na = "", dec = ".", row.names = FALSE,
                              col.names = TRUE, compress = c("auto", "none", "gzip", "zstd"), nThread = NULL, bom = FALSE, overwrite = TRUE, ...) {
  refuse_others(FWRITE_HARMLESS, FWRITE_ADVICE, ...)
  if (missing(file)) wrong("pass the path of the file to write as 'file'")
  if (!is.character(file) || length(file) != 1L || is.na(file) || file == "") {
    must_be("file", "the path of the file to write", file)
  }
  path <- enc2native(path.expand(file))
  compress <- check_choice(compress, "compress", c("auto", "none", "gzip", "zstd"))
  form <- list(
    sep = one_character(sep, "sep"), quote = quoting_of(quote), na = check_strings(na, "na"),
    dec = check_choice(dec, "dec", c(".", ",")),
    eol = check_choice(eol, "eol", c("\n", "\r\n")), col.names = flag_text(col.names, "col.names"),
    bom = flag_text(bom, "bom"),
    append = flag_text(append, "append"), compress = compress
  )
  if (length(na) != 1L) must_be("na", "one string", na)
  check_flag(overwrite, "overwrite")
  if (append && !overwrite) wrong("'overwrite = FALSE' is for new files, and 'append = TRUE' adds to one that exists")
  check_overwrite(overwrite, path)
  form$must_be_new <- flag_text(!overwrite, "overwrite")
  if (!is.null(nThread)) form$nThread <- format(check_whole(nThread, "nThread", 1, MOST_THREADS))
  check_flag(row.names, "row.names")
  if (inherits(x, "entasis_csv_scan")) {
    if (row.names) wrong("the rows of a text have no names: use row.names = FALSE")
    return(invisible(written_spec(form, names(x), write_scan(x, path, form))))
  }
  stored <- if (inherits(x, "entasis_table") && !row.names) columns_of_file(x)
  if (!is.null(stored)) {
    file <- file_of(x)
    if (file$own) form$are_instants <- "true"
    core(.Call(C_csv_write, handle_of(file), NULL, stored$names, stored$numbers, path, form))
    return(invisible(written_spec(form, stored$names, stored$types)))
  }
  x <- read_lazy(x)
  if (!is.data.frame(x)) must_be("x", "a data frame, or a table from entasis()", x)
  frame <- frame_of_texts(x, row.names)
  form$are_instants <- "true"
  made <- make_frame(new_document(), frame$columns, "x")
  core(.Call(C_csv_write, NULL, made, names(frame$columns), NULL, path, form))
  invisible(written_spec(form, names(frame$columns), frame$types))
}

one_character <- function(x, name) {
  if (!is.character(x) || length(x) != 1L || is.na(x) || nchar(x, "bytes") != 1L) {
    must_be(name, "one character of ASCII", x)
  }
  x
}

# As in fwrite(), TRUE quotes all texts, and FALSE none. A text that needs quotes is then an error.
quoting_of <- function(quote) {
  if (identical(quote, "auto")) return("auto")
  if (identical(quote, "all")) return("all")
  if (!is.logical(quote) || length(quote) != 1L || is.na(quote)) {
    must_be("quote", "\"auto\", \"all\", TRUE or FALSE", quote)
  }
  if (quote) "text" else "never"
}

# The spec that reads a written text back.
written_spec <- function(form, names, types) {
  parts <- list(
    separator = form$sep, quote = "\"", escape = NULL, comment = NULL, encoding = "utf-8", skip = 0,
    header = form$col.names == "true",
    # The types are given, so that quotes tell texts from missing values and nothing else.
    all_quoted = FALSE, missing_in_text = TRUE, decimal = form$dec, thousands = NULL,
    names = names_read(names), types = types, missing = if (form$na == "") character() else form$na,
    dates = character(), column_dates = list()
  )
  new_csv_spec(spec_json(parts), parts)
}

# The names that read_csv_entasis() gives to columns of these names. Empty and repeated ones become
# others.
names_read <- function(names) {
  if (anyDuplicated(names) == 0L && all(nzchar(names))) {
    return(names)
  }
  line <- paste0("\"", gsub("\"", "\"\"", names, fixed = TRUE), "\"", collapse = ",")
  form <- csv_form(",", ".", "\"", TRUE, 0, "", "", NULL, "UTF-8", FALSE)
  csv_call(csv_sources(text = line), c(form, nrows = "0"))$all_names
}

# The columns of a data frame as the core writes them, and their types in a spec.
frame_of_texts <- function(x, row_names) {
  n <- .row_names_info(x, 2L)
  names <- names_of(x)
  if (is.null(names)) names <- paste0("V", seq_along(unclass(x)))
  names <- as_utf8(names)
  names[is.na(names)] <- "NA"
  columns <- lapply(seq_along(names), function(i) column_of_text(.subset2(x, i), names[i], n))
  if (row_names) {
    columns <- c(list(list(values = as.character(attr(x, "row.names")), type = "string")), columns)
    names <- c("", names)
  }
  values <- lapply(columns, `[[`, "values")
  list(
    columns = decorate(values, list(names = names, class = "data.frame", row.names = c(NA, -as.integer(n)))),
    types = vapply(columns, `[[`, "", "type")
  )
}

# Classes of vectors that are written as the numbers or texts that they are.
PLAIN_CLASSES <- c(
  "AsIs", "noquote", "haven_labelled", "labelled", "vctrs_vctr", "double", "integer", "character", "logical",
  "numeric"
)

refuse_column <- function(name, ...) {
  abort("unsupported", paste0("not supported: column '", substr(name, 1L, 100L), "' ", ...), list(column = name))
}

# A column as the core writes it, and its type in a spec.
column_of_text <- function(x, name, n) {
  if (is_lt_like(x)) x <- as.POSIXct(x)
  if (is_frame_like(x)) refuse_column(name, "is a data frame: write its columns")
  if (is.list(x)) refuse_column(name, "is a list, which has no form in a text: leave it out, or paste its values")
  if (!is.atomic(x) || is.null(x)) refuse_column(name, "is of type ", typeof(x))
  if (is.complex(x) || is.raw(x)) refuse_column(name, "is ", typeof(x), ", which has no form in a text: convert it")
  if (length(dim_of(x)) > 1L) refuse_column(name, "is a matrix: write its columns")
  if (length_of(x) != n) refuse_column(name, "has ", length_of(x), " values in a table of ", n, " rows")
  class <- unclass_all(oldClass(x))
  if (is.factor(x) && typeof(x) == "integer") {
    return(list(values = factor_of_text(x, name), type = "categorical"))
  }
  if (inherits(x, "ITime")) {
    return(list(values = ifelse(is.na(x), NA_character_, format(x)), type = "string"))
  }
  if (inherits(x, "Date")) {
    check_exact(x, name, -1L, "a part of a day: use trunc(), or convert it with as.POSIXct()")
    return(list(values = decorate(unclass_all(x), list(class = "Date")), type = "date"))
  }
  if (inherits(x, "POSIXct")) {
    unit <- check_exact(x, name, 0L, "a part of a nanosecond: round it, as with trunc(x, \"secs\")")
    values <- decorate(unclass_all(x), list(class = c("POSIXct", "POSIXt"), tzone = "UTC"))
    return(list(values = values, type = if (unit == UNIT_NANOSECOND) "datetime[ns, UTC]" else "datetime[us, UTC]"))
  }
  if (inherits(x, "difftime")) {
    units <- attr(x, "units", exact = TRUE)
    if (!is_string(units) || !units %in% names(DIFFTIME_SECONDS)) {
      refuse_column(name, "is a difftime without known units: convert it with as.numeric()")
    }
    check_exact(x, name, DIFFTIME_SECONDS[[units]], "a part of a nanosecond: round it, or convert it with as.numeric()")
    return(list(values = decorate(unclass_all(x), list(class = "difftime", units = units)), type = "string"))
  }
  if (isS4(x)) {
    if (inherits(x, "nanotime")) return(list(values = x, type = "datetime[ns, UTC]"))
    refuse_column(name, "is of class ", shown_class(class), ": convert it with as.character() or as.numeric()")
  }
  if (inherits(x, "integer64") && is.double(x)) {
    return(list(values = decorate(unclass_all(x), list(class = "integer64")), type = "int64"))
  }
  unknown <- setdiff(class, PLAIN_CLASSES)
  if (length(unknown) > 0L) {
    refuse_column(name, "is of class ", shown_class(unknown), ": convert it with as.character() or unclass()")
  }
  type <- c(logical = "bool", integer = "int32", double = "float64", character = "string")[[typeof(x)]]
  list(values = if (is.null(attributes(x))) x else unclass_all(x), type = type)
}

# A factor without attributes other than its levels.
factor_of_text <- function(x, name) {
  levels <- attr(x, "levels", exact = TRUE)
  if (!is.character(levels)) refuse_column(name, "is a factor without levels that are strings")
  decorate(unclass_all(x), list(levels = unclass_all(levels), class = "factor"))
}

# Checks that times are whole counts of a unit, and returns the code of the unit.
check_exact <- function(x, name, scale, what) {
  if (!is.double(x)) {
    return(UNIT_SECOND)
  }
  unit <- core(.Call(C_exact_unit, list(unclass_all(x)), scale, FALSE))
  if (unit == 0L) refuse_column(name, "has a time with ", what)
  unit
}

# The columns of an open file that can be written without reading it whole, with their numbers in
# the file and their types in a spec; NULL if R has to read it.
columns_of_file <- function(x) {
  if (inherits(x, "entasis_query")) {
    return(NULL)
  }
  file <- file_of(x)
  layout <- layout_of(file)
  facts <- table_facts(file)
  if (length(label_names(file)) > 0L || is.null(layout$names) || length(layout$first) != file$facts$n_columns) {
    return(NULL)
  }
  described <- !vapply(layout$descriptions, is.null, NA)
  is_time <- facts$logical %in% c("timestamp", "date", "duration")
  if (any(described & !is_time) || length(file$string_encodings$of) > 0L) {
    return(NULL)
  }
  list(
    names = as_utf8(layout$names), numbers = as.double(layout$first),
    types = vapply(seq_along(facts$type), function(i) type_of_file(facts, i, file$own), "")
  )
}

# The type in a spec of a column of a file.
type_of_file <- function(facts, i, own) {
  if (facts$logical[i] == "categorical") {
    return("categorical")
  }
  if (facts$logical[i] == "timestamp") {
    return(
      paste0("datetime[", if (facts$unit[i] == "ns") "ns" else "us", if (own || nzchar(facts$zone[i])) ", UTC", "]")
    )
  }
  if (facts$logical[i] == "date") {
    return("date")
  }
  if (facts$logical[i] == "decimal") {
    return("float64")
  }
  known <- c(null = "null", bool = "bool", f32 = "float64", f64 = "float64", i8 = "int32", i16 = "int32", i32 = "int32", u8 = "int32", u16 = "int32",
             u32 = "int64", i64 = "int64", u64 = "uint64")
  if (facts$logical[i] == "plain" && facts$physical[i] %in% names(known)) known[[facts$physical[i]]] else "string"
}
