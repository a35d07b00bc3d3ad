# Some rows or columns of a frame of R: what is kept of its attributes, and of its class.

# Classes of which the rules are known here: those of R, tibble and data.table.
SIMPLE_FRAMES <- c("data.frame", "tbl_df", "tbl", "data.table")

# Positions of all columns mean that no columns were chosen.
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
  # R has no method: only a class that asks nothing of the rows stays.
  extra <- attrs[!names(attrs) %in% KNOWN_ATTRIBUTES]
  n <- file$facts$n_rows
  broken <- if (n > 1) names(extra)[vapply(extra, depends_on_rows, NA, n)]
  if (length(broken) > 0L && !is_all(rows)) {
    return(plain_part(file, which, rows, without_class(attrs, setdiff(class, SIMPLE_FRAMES), names(extra),
      paste0("its attribute \"", substr(broken[1L], 1L, 60L), "\" depends on the rows"))))
  }
  plain_part(file, which, rows, attrs)
}

chosen_columns <- function(file, which) !identical(as.integer(which), seq_along(layout_of(file)$first))

# A part of a frame of R, tibble or data.table.
plain_part <- function(file, which, rows, attrs) {
  class <- attrs[["class"]]
  keeps <- keeps_attributes(class)
  names <- layout_of(file)$names[which]
  if (!keeps && chosen_columns(file, which)) {
    # As of a list, of which `[` keeps names alone.
    attrs <- attrs[names(attrs) %in% KNOWN_ATTRIBUTES]
  }
  if ("data.table" %in% class) attrs <- selected_attributes(attrs, names, rows)
  interpret(file, {
    frame <- own_frame(file, read_columns(file, which, rows, class), which, rows, attrs)
    if (!keeps && anyDuplicated(which)) attr(frame, "names") <- make.unique(names(frame))
    frame
  })
}

# Keys of a data.table for some of its columns and rows: those first ones that are there; indices are of all rows.
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

# The attributes without a class and what belongs to it. A message says so.
without_class <- function(attrs, classes, names, why) {
  message("entasis: the part read is no ", shown_class(classes), ", as ", why)
  attrs[names] <- NULL
  attrs[["class"]] <- setdiff(attrs[["class"]], classes)
  attrs
}

# By a class's own `[`. It gets all columns and all rows, as its value may depend on how many there are: that of nlme drops unused levels
# and adds attributes only where it leaves rows out.
own_part <- function(file, which, rows, attrs) {
  n <- file$facts$n_rows
  all <- seq_along(layout_of(file)$first)
  class <- attrs[["class"]]
  frame <- interpret(file, own_frame(file, read_columns(file, all, ALL_ROWS, class), all, ALL_ROWS, attrs))
  i <- if (!is_all(rows)) row_positions(rows, n)
  j <- if (chosen_columns(file, which)) which
  names <- layout_of(file)$names[which]
  value <- by_class(class, the_frame(file), frame, if (is.null(i)) n else length(i), own_subset(frame, i, j), names)
  if (!is.null(i) && is.null(file$host$index)) attr(value, "row.names") <- c(NA, -length(i))
  if (is.null(i)) value else fit_columns(value, frame, i)
}

the_frame <- function(file) list(file = file$path, what = "the frame", column = NA_character_)

own_subset <- function(x, i, j) {
  if (is.null(i)) x[, j, drop = FALSE] else if (is.null(j)) x[i, , drop = FALSE] else x[i, j, drop = FALSE]
}

# Groups are made anew. What has none of its columns left is a tibble.
grouped_part <- function(file, which, rows, attrs) {
  class <- attrs[["class"]]
  groups <- attrs[["groups"]]
  by <- setdiff(names(groups), ".rows")
  names <- layout_of(file)$names[which]
  left <- intersect(by, names)
  is_rowwise <- class[1L] == "rowwise_df"
  why <- if (!is_rowwise && length(left) == 0L) "no column that it is grouped by is read" else
    if (!requireNamespace("dplyr", quietly = TRUE)) "package dplyr is not installed"
  if (!is.null(why)) {
    return(plain_part(file, which, rows, without_class(attrs, class[1L], "groups", why)))
  }
  if (is_all(rows) && identical(left, by)) {
    return(plain_part(file, which, rows, attrs))
  }
  bare <- attrs
  bare["groups"] <- NULL
  bare[["class"]] <- setdiff(class, class[1L])
  frame <- plain_part(file, which, rows, bare)
  if (is_rowwise) dplyr::rowwise(frame, dplyr::all_of(left)) else
    dplyr::grouped_df(frame, left, drop = !identical(attr(groups, ".drop"), FALSE))
}

# sf: its geometry, and what its other columns are to that.
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

# readr's `[` drops what it says about all columns.
spec_part <- function(file, which, rows, attrs) {
  attrs[c("spec", "problems")] <- NULL
  attrs[["class"]] <- setdiff(attrs[["class"]], "spec_tbl_df")
  plain_part(file, which, rows, attrs)
}

PARTS_OF_CLASS <- list(grouped_df = grouped_part, rowwise_df = grouped_part, sf = sf_part, spec_tbl_df = spec_part)

# Rows by a selection that may have missing ones, which are rows of NA.
read_selection <- function(file, which, i, row_names) {
  n <- file$facts$n_rows
  if (is.logical(i) && anyNA(i)) {
    # To data.table a missing value of a mask is FALSE.
    if (file$own && "data.table" %in% interpret(file, own_attributes(file))[["class"]]) i[is.na(i)] <- FALSE
  }
  numbers <- row_numbers_of(i, n, row_names)
  if (!anyNA(numbers)) {
    return(read_frame(file, which, rows_at(numbers, n)))
  }
  if (is.logical(i)) {
    # Methods of `[` may tell masks from numbers.
    mask <- rep_len(i, n)
    there <- two_rows(which(is.na(mask) | mask), n)
    again <- mask[there]
  } else {
    there <- two_rows(sort(unique(numbers)), n)
    again <- match(numbers, there)
    again[is.na(numbers)] <- NA
  }
  frame <- read_frame(file, which, rows_at(there, n))
  if (has_class(frame, "data.table")) {
    return(again_of_table(frame, again))
  }
  frame <- number_rows(frame, as.integer(there))
  class <- oldClass(frame)
  load_class(class)
  n_again <- if (is.logical(again)) sum(is.na(again) | again) else length(again)
  by_class(class, the_frame(file), frame, n_again, fit_columns(frame[again, , drop = FALSE], frame, again))
}

# At least two rows, if the file has so many. Without a row `[` has no row names to go by, and R makes a plain vector of an array of
# one dimension that has one value.
two_rows <- function(there, n) {
  if (length(there) > 1L || n <= length(there)) {
    return(there)
  }
  if (length(there) == 0L) seq_len(min(n, 2)) else sort(c(there, if (there > 1) there - 1 else 2))
}

# Row names that are numbers become those of the file's rows, also in frames of the frame.
number_rows <- function(frame, numbers) {
  if (has_class(frame, "tbl_df")) {
    return(frame)
  }
  attrs <- attributes(frame)
  if (is_numbered(frame)) attrs[["row.names"]] <- numbers
  columns <- lapply(unclass(frame), function(x) if (is_frame_like(x)) number_rows(x, numbers) else x)
  decorate(unname(columns), attrs)
}

# The `[` of data.table depends on who calls it.
again_of_table <- function(frame, again) {
  attrs <- attributes(frame)
  attrs[c(".internal.selfref", "index")] <- NULL
  # To data.table a missing value is less than any other.
  if (is.unsorted(ifelse(is.na(again), 0L, again))) attrs["sorted"] <- NULL
  attrs[["row.names"]] <- c(NA, -length(again))
  columns <- lapply(unclass(frame), subset_rows, again)
  data.table::setalloccol(decorate(unname(columns), attrs))
}
