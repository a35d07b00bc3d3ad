# Words of messages: numbers, names, values and classes in short.

# A number with a comma between thousands, regardless of options(OutDec).
shown_number <- function(x) format(x, scientific = FALSE, big.mark = ",", decimal.mark = ".", trim = TRUE)

counted <- function(n, what) paste0(shown_number(n), " ", what, if (n != 1) "s")

# A short description of a value.
what_is <- function(x) {
  if (is.null(x)) {
    return("NULL")
  }
  if (is.data.frame(x)) {
    return("a data frame")
  }
  if (is.function(x)) {
    return("a function")
  }
  if (is.object(x) && !is.factor(x)) {
    return(paste0("an object of class '", class(x)[1L], "'"))
  }
  kind <- if (is.factor(x)) "factor" else switch(typeof(x), double = "numeric", typeof(x))
  if (is.atomic(x) && length(x) == 1L && !is.factor(x)) {
    if (is.na(x)) return("NA")
    if (is.character(x)) return(if (nchar(x, "bytes") <= 40L) encodeString(x, quote = "\"") else "a string")
    if (is.numeric(x) && abs(x) < 1e15) return(format(x, digits = 15L, scientific = FALSE, decimal.mark = "."))
    return(format(x, digits = 15L))
  }
  what <- if (is.atomic(x) && !is.factor(x)) paste(kind, "vector") else kind
  article <- if (grepl("^[aeiou]", what)) "an " else "a "
  paste0(article, what, if (is.vector(x)) paste(" of length", shown_number(length(x))))
}

shown_class <- function(class) paste0("\"", substr(paste(class, collapse = "/"), 1L, 60L), "\"")

# Some names for a message.
listed <- function(names, most = 5L) {
  shown <- paste0("'", substr(names[seq_len(min(length(names), most))], 1L, 60L), "'", collapse = ", ")
  if (length(names) > most) paste0(shown, " and ", length(names) - most, " more") else shown
}
