# Specs: how a text is written, as sniff_csv_entasis() and write_csv_entasis() return it.

# The JSON of a spec: of an object, of a text, or of a file.
csv_spec_text <- function(spec) {
  if (inherits(spec, "entasis_csv_spec")) {
    return(spec$json)
  }
  if (!is.character(spec) || length(spec) != 1L || is.na(spec)) {
    must_be("spec", "a spec of sniff_csv_entasis(), its JSON, or the path of a file with it", spec)
  }
  if (grepl("^\\s*\\{", spec)) {
    return(enc2utf8(spec))
  }
  if (!file.exists(spec)) wrong("'spec' is not JSON, and there is no file \"", substr(spec, 1L, 200L), "\"")
  paste(readLines(spec, encoding = "UTF-8", warn = FALSE), collapse = "\n")
}

# A spec: its JSON for the core, the same parts as values of R, and the reasons.
new_csv_spec <- function(json, parts, reasons = NULL) {
  structure(list(json = json, parts = parts, reasons = reasons), class = "entasis_csv_spec")
}

format.entasis_csv_spec <- function(x, ...) {
  arguments <- spec_arguments(x$parts)
  shown <- paste0(
    "  ", names(arguments), " = ", vapply(arguments, deparsed, ""),
    c(rep_len(",", max(length(arguments) - 1L, 0L)), "")
  )
  reasons <- x$reasons
  if (NROW(reasons) > 0L) {
    of <- match(names(arguments), REASON_ARGUMENTS[reasons$part])
    known <- !is.na(of)
    shown[known] <- paste0(
      shown[known], strrep(" ", pmax(32L - nchar(shown[known]), 1L)), "# ", reasons$reason[of[known]]
    )
  }
  c("read_csv_entasis(file,", shown, ")")
}

print.entasis_csv_spec <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}

# The arguments that the parts of a spec decide.
REASON_ARGUMENTS <- c(separator = "sep", quote = "quote", escape = "escape", comment = "comment.char", skip = "skip", header = "header",
                      decimal = "dec", line_end = "eol")

deparsed <- function(x) paste(deparse(x, width.cutoff = 500L), collapse = " ")

# The arguments of read_csv_entasis() that repeat a spec.
spec_arguments <- function(parts) {
  none <- function(x) if (is.null(x)) "" else x
  found <- list(
    sep = parts$separator, dec = parts$decimal, quote = none(parts$quote), escape = none(parts$escape),
    comment.char = none(parts$comment),
    skip = parts$skip, header = parts$header, encoding = parts$encoding
  )
  if (isTRUE(parts$missing_in_text)) found$na.strings <- as.character(parts$missing)
  if (!is.null(parts$thousands)) found$thousands <- parts$thousands
  if (!parts$header && length(parts$names) > 0L) found$col.names <- parts$names
  if (length(parts$names) > 0L && length(parts$types) == length(parts$names)) {
    classes <- csv_class_of(parts$types)
    names(classes) <- parts$names
    # Columns without values, and numbers that are text, have no class to repeat.
    if (any(!is.na(classes))) found$colClasses <- classes[!is.na(classes)]
  }
  dates <- c(if (length(parts$dates) > 0L) list(parts$dates), parts$column_dates)
  if (length(dates) > 0L) found$dates <- dates
  found
}

# The classes of R for types of the core.
csv_class_of <- function(types) {
  classes <- c(
    bool = "logical", int8 = "integer", int16 = "integer", int32 = "integer", uint8 = "integer",
    uint16 = "integer", uint32 = "integer64",
    int64 = "integer64", uint64 = "character", float32 = "double", float64 = "double", date = "Date",
    categorical = "factor", string = "character"
  )
  found <- unname(classes[types])
  found[startsWith(types, "datetime")] <- "POSIXct"
  found[startsWith(types, "decimal")] <- "double"
  found
}

# A string in JSON.
json_text <- function(x) {
  x <- gsub("\\", "\\\\", enc2utf8(x), fixed = TRUE)
  x <- gsub("\"", "\\\"", x, fixed = TRUE)
  for (byte in which(vapply(1:31, function(byte) any(grepl(intToUtf8(byte), x, fixed = TRUE)), NA))) {
    x <- gsub(intToUtf8(byte), sprintf("\\u%04x", byte), x, fixed = TRUE)
  }
  paste0("\"", x, "\"", recycle0 = TRUE)
}

# The JSON of the parts of a spec.
spec_json <- function(parts) {
  one <- function(x) if (is.null(x)) "null" else if (is.logical(x)) (if (x) "true" else "false") else if (is.numeric(x)) format(x, scientific = FALSE) else json_text(x)
  list_of <- function(x) paste0("[", paste(json_text(as.character(x)), collapse = ", "), "]")
  lists <- c("names", "types", "missing", "dates")
  names <- setdiff(
    c(
      "separator", "quote", "escape", "comment", "encoding", "skip", "header", "all_quoted", lists,
      "missing_in_text", "decimal", "thousands"
    ),
    ""
  )
  values <- vapply(names, function(name) if (name %in% lists) list_of(parts[[name]]) else one(parts[[name]]), "")
  of_columns <- vapply(parts$column_dates, list_of, "")
  of_columns <- paste0(
    "{", paste0(json_text(as.character(names(of_columns))), ": ", of_columns, collapse = ", ", recycle0 = TRUE),
    "}"
  )
  values <- c(values, column_dates = of_columns)
  paste0("{\n", paste0("  \"", names(values), "\": ", values, collapse = ",\n"), "\n}\n")
}

# The parts of the spec of a text that was read.
spec_parts <- function(csv) {
  single <- as.list(csv$spec)
  names(single) <- c(
    "separator", "quote", "escape", "comment", "encoding", "skip", "header", "all_quoted", "missing_in_text",
    "decimal", "thousands"
  )
  single[is.na(csv$spec)] <- list(NULL)
  single$skip <- as.double(single$skip)
  for (name in c("header", "all_quoted", "missing_in_text")) single[[name]] <- single[[name]] == "true"
  c(single, list(
    names = csv$spec_names, types = csv$spec_types, missing = csv$missing, dates = csv$dates,
    column_dates = split(csv$date_formats, factor(csv$date_columns, unique(csv$date_columns)))
  ))
}
