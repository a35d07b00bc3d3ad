# Why rows can't be added to a file in place, in words that follow "because".

# Whether the columns, attributes and row names of a file allow it.
can_grow_in_place <- function(file) is.null(why_not_in_place(file))

# The reason why not, or NULL.
why_not_in_place <- function(file) {
  if (is_tree(file)) {
    return("it is not a data frame alone")
  }
  if (!is.null(file$host$index)) {
    return(if (file$facts$n_rows == 0) "it has no rows" else "its row names are not 1, 2, 3 ...")
  }
  layout <- layout_of(file)
  facts <- table_facts(file)
  named <- function(number) paste0("column '", substr(facts$name[match(number, facts$number)], 1L, 60L), "'")
  if (!is.null(file$string_encodings)) {
    other <- intersect(facts$number, file$string_encodings$of)
    return(if (length(other) > 0L) paste(named(other[1L]), NOT_UTF8) else "it has labels that are not marked as UTF-8")
  }
  if (any(facts$logical == "object")) {
    return(paste(named(facts$number[facts$logical == "object"][1L]), "is a list"))
  }
  wide <- which(
    !vapply(layout$descriptions, function(description) is.null(description) || has_attributes_alone(description), NA)
  )
  if (length(wide) > 0L || length(layout$first) != length(facts$name)) {
    at <- if (length(wide) > 0L) wide[1L] else 1L
    return(
      paste0("column '", substr(layout$names[at], 1L, 60L), "' is a matrix, a data frame, a record or an object of S4")
    )
  }
  interpret(file, why_attributes_do_not_grow(file, layout))
}

NOT_UTF8 <- "has strings that are not marked as UTF-8: convert it with enc2utf8()"

why_attributes_do_not_grow <- function(file, layout) {
  n <- file$facts$n_rows
  # With one row, every attribute would seem to have a part for each row.
  n_of_parts <- if (n > 1) n else -1
  described <- which(!vapply(layout$descriptions, is.null, NA))
  distinct <- .Call(C_distinct, layout$descriptions[described])$first
  for (k in described[distinct]) {
    description <- layout$descriptions[[k]]
    names <- names_of_pairs(description$attributes)
    bound <- intersect(c("names", "dim", "dimnames", "tsp"), names)
    column <- if (identical(file$host$form, "vector")) "it" else paste0("column '", substr(layout$names[k], 1L, 60L), "'")
    if (length(bound) > 0L) {
      return(paste0(column, " has the attribute '", bound[1L], "'"))
    }
    if (isTRUE(slicing_of(file, description, n_of_parts)$whole)) {
      return(paste(column, "has attributes that may depend on all rows"))
    }
  }
  if (!identical(file$host$form, "vector") && !is_fixed_frame(own_attributes(file), n_of_parts)) {
    return(
      paste0(
        "it has the class ", shown_class(class_in(own_attributes(file))),
        ", or attributes that may depend on all rows"
      )
    )
  }
}

# Whether a column has strings that are not stored as UTF-8.
has_other_text <- function(x) {
  texts <- if (is.factor(x)) levels(x) else if (is.character(x)) unclass_all(x)
  texts <- as_utf8(as.character(texts[!is.na(texts)]))
  !all(is_ascii(texts) | Encoding(texts) == "UTF-8" & validUTF8(texts))
}

# Whether no attribute of a frame depends on its rows, besides the key of a data.table.
is_fixed_frame <- function(attrs, n) {
  class <- class_in(attrs)
  extra <- attrs[!names(attrs) %in% c(KNOWN_ATTRIBUTES, "sorted")]
  special <- setdiff(class, c(SIMPLE_FRAMES, "spec_tbl_df"))
  has_rules <- any(special %in% names(CLASS_PACKAGES)) || has_method_of("rbind", special)
  !has_rules && !"index" %in% names(attrs) && !any(vapply(extra, depends_on_rows, NA, n))
}
