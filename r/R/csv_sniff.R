# sniff_csv_entasis(): finds out how a text file is written.

sniff_csv_entasis <- function(file, sep = "auto", dec = "auto", quote = "auto", header = "auto", na.strings = "NA", skip = "auto",
                              encoding = "unknown", text = NULL, nThread = NULL, comment.char = "auto",
                              strip.white = TRUE, escape = "auto",
                              thousands = NULL, dates = NULL, fill = FALSE, rows = c("first", "all")) {
  rows <- check_choice(rows, "rows", c("first", "all"))
  sources <- csv_sources(file, text)
  if (isTRUE(sources$are_text)) encoding <- "UTF-8"
  form <- csv_form(sep, dec, quote, header, skip, comment.char, escape, thousands, encoding, strip.white)
  form$na.strings <- csv_words_of_missing(na.strings)
  form$fill <- flag_text(fill, "fill")
  if (!is.null(nThread)) form$nThread <- check_whole(nThread, "nThread", 1, MOST_THREADS)
  form <- c(form, csv_dates(dates))
  csv <- csv_call(sources, form, if (rows == "all") CSV_SNIFF_ALL else CSV_SNIFF)
  parts <- spec_parts(csv)
  parts$types <- narrow_types(csv)
  reasons <- data.frame(
    part = csv$parts, value = csv$values, reason = csv$reasons, confidence = csv$confidences,
    stringsAsFactors = FALSE
  )
  new_csv_spec(spec_json(parts), parts, reasons)
}

# The types of all columns, with integers of R where these hold the values.
narrow_types <- function(csv) ifelse(csv$types == "int64" & csv$fits == 0, "int32", csv$types)
