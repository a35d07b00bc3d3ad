# Some rows or columns of a frame of R, and the attributes and class that it keeps.

# A part of a frame. The positions of all columns in order mean that no columns were chosen.
some_of_frame <- function(file, which, rows) {
  attrs <- interpret(file, own_attributes(file))
  class <- interpret(file, class_in(attrs))
  if (all(class %in% SIMPLE_FRAMES)) {
    return(plain_part(file, which, rows, attrs))
  }
  known <- PARTS_OF_CLASS[[class[1L]]]
  if (!is.null(known)) {
    return(known(file, which, rows, attrs))
  }
  load_class(class)
  first <- class[vapply(class, function(name) name %in% SIMPLE_FRAMES || has_method(name), NA)]
  if (length(first) > 0L && !first[1L] %in% SIMPLE_FRAMES) {
    return(own_part(file, which, rows, attrs))
  }
  # Without a `[` method the class stays only if its attributes do not depend on rows.
  extra <- attrs[!names(attrs) %in% KNOWN_ATTRIBUTES]
  n <- file$facts$n_rows
  broken <- if (n > 1) names(extra)[vapply(extra, depends_on_rows, NA, n)]
  if (length(broken) > 0L && !is_all(rows)) {
    return(plain_part(file, which, rows, without_class(attrs, setdiff(class, SIMPLE_FRAMES), names(extra),
      paste0("its attribute \"", substr(broken[1L], 1L, 60L), "\" depends on the rows"))))
  }
  plain_part(file, which, rows, attrs)
}

is_other_columns <- function(file, which) !identical(as.integer(which), seq_along(layout_of(file)$first))

# A part of a data frame, tibble or data.table.
plain_part <- function(file, which, rows, attrs) {
  class <- attrs[["class"]]
  keeps <- keeps_attributes(class)
  names <- layout_of(file)$names[which]
  if (!keeps && is_other_columns(file, which)) {
    # `[` of a list keeps names only.
    attrs <- attrs[names(attrs) %in% KNOWN_ATTRIBUTES]
  }
  if ("data.table" %in% class) attrs <- selected_attributes(attrs, names, rows)
  interpret(file, {
    # `[` of a tibble drops row names.
    frame <- own_frame(
      file, read_columns(file, which, rows, class), which, rows, attrs, has_row_names = !"tbl_df" %in% class
    )
    if (!keeps && anyDuplicated(which)) attr(frame, "names") <- make.unique(names(frame))
    frame
  })
}

# The key of a data.table for some columns and rows: the leading columns that are read. Indices hold
# for all rows only.
selected_attributes <- function(attrs, names, rows) {
  attrs$index <- NULL
  if (!is.null(attrs$sorted)) {
    lost <- which(!attrs$sorted %in% names)
    key <- if (length(lost) > 0L) attrs$sorted[seq_len(lost[1L] - 1L)] else attrs$sorted
    in_order <- rows[[1L]] < 2L || !is.unsorted(rows[[4L]])
    attrs$sorted <- if (length(key) > 0L && in_order) key
  }
  attrs
}

# Removes classes and their attributes, with a message.
without_class <- function(attrs, classes, names, why) {
  message("entasis: the part that was read is not a ", shown_class(classes), ", because ", why)
  attrs[names] <- NULL
  attrs[["class"]] <- setdiff(attrs[["class"]], classes)
  attrs
}

# A part by the `[` method of the class. The method gets all columns and rows, because its result
# may depend on their number: the method of nlme drops unused levels and adds attributes only when
# it drops rows.
own_part <- function(file, which, rows, attrs) {
  n <- file$facts$n_rows
  all <- seq_along(layout_of(file)$first)
  class <- attrs[["class"]]
  frame <- interpret(file, own_frame(file, read_columns(file, all, ALL_ROWS, class), all, ALL_ROWS, attrs))
  i <- if (!is_all(rows)) row_positions(rows, n)
  j <- if (is_other_columns(file, which)) which
  names <- layout_of(file)$names[which]
  value <- by_class(class, the_frame(file), frame, if (is.null(i)) n else length(i), own_subset(frame, i, j), names)
  if (!is.null(i) && is.null(file$host$index)) attr(value, "row.names") <- c(NA, -length(i))
  if (is.null(i)) value else fit_columns(value, frame, i)
}

own_subset <- function(x, i, j) {
  if (is.null(i)) x[, j, drop = FALSE] else if (is.null(j)) x[i, , drop = FALSE] else x[i, j, drop = FALSE]
}

# A part of a grouped frame. Groups are recomputed; without grouping columns the part is a tibble.
grouped_part <- function(file, which, rows, attrs) {
  class <- attrs[["class"]]
  groups <- attrs[["groups"]]
  by <- setdiff(names(groups), ".rows")
  names <- layout_of(file)$names[which]
  left <- intersect(by, names)
  is_rowwise <- class[1L] == "rowwise_df"
  why <- if (!is_rowwise && length(left) == 0L) "none of its grouping columns is read" else
    if (!requireNamespace("dplyr", quietly = TRUE)) "package dplyr is not installed"
  if (!is.null(why)) {
    return(plain_part(file, which, rows, without_class(attrs, class[1L], "groups", why)))
  }
  if (is_all(rows) && identical(left, by)) {
    return(plain_part(file, which, rows, attrs))
  }
  ungrouped <- attrs
  ungrouped["groups"] <- NULL
  ungrouped[["class"]] <- setdiff(class, class[1L])
  frame <- plain_part(file, which, rows, ungrouped)
  if (is_rowwise) dplyr::rowwise(frame, dplyr::all_of(left)) else
    dplyr::grouped_df(frame, left, drop = !identical(attr(groups, ".drop"), FALSE))
}

# A part of an sf frame. Without the geometry it is a data frame.
sf_part <- function(file, which, rows, attrs) {
  names <- layout_of(file)$names[which]
  geometry <- attrs[["sf_column"]]
  if (!is_string(geometry) || !geometry %in% names) {
    return(plain_part(file, which, rows, without_class(attrs, "sf", c("sf_column", "agr"), "its geometry is not read")))
  }
  kept <- attrs[c("sf_column", "agr")]
  frame <- plain_part(file, which, rows, attrs)
  attr(frame, "sf_column") <- kept$sf_column
  agr <- kept$agr[setdiff(names(frame), geometry)]
  if (!is.null(kept$agr)) attr(frame, "agr") <- agr
  frame
}

# A part of a frame of readr, whose `[` drops the column specification.
spec_part <- function(file, which, rows, attrs) {
  attrs[c("spec", "problems")] <- NULL
  attrs[["class"]] <- setdiff(attrs[["class"]], "spec_tbl_df")
  plain_part(file, which, rows, attrs)
}

PARTS_OF_CLASS <- list(grouped_df = grouped_part, rowwise_df = grouped_part, sf = sf_part, spec_tbl_df = spec_part)
