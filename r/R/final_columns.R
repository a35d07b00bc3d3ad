# Gives a frame other columns: in its file, or in memory.

# Changes the columns of a file without storing the kept ones again. False if the file has to be
# written anew.
set_columns_in_place <- function(file, final, change, operation, options) {
  class <- class_in(in_session(file, interpret(file, own_attributes(file))))
  if (!all(class %in% SIMPLE_FRAMES) || is_table_without_columns(class, final)) {
    return(FALSE)
  }
  store_columns(file, final, change, operation, options)
}

# The same, regardless of the class of the frame. `change` may be a stream. `forms` are forms of the
# new columns, or NULL.
store_columns <- function(file, final, change, operation, options, forms = NULL) {
  layout <- layout_of(file)
  if (is.null(layout$names) || !is.null(attributes(layout$names))) {
    return(FALSE)
  }
  planned <- plan_final_columns(file, final, in_session(file, interpret(file, own_attributes(file))), forms)
  columns <- stored_columns(file, final)
  if (is.null(planned) || is.null(columns)) {
    return(FALSE)
  }
  core(.Call(C_change_columns, change, planned, columns$positions, columns$is_new, columns$labels, operation, options))
}

# A data.table without columns has no rows.
is_table_without_columns <- function(class, final) "data.table" %in% class && length(final$from) == 0L

# The frame of the new columns, with the host map of all columns. NULL for objects, and for vectors
# that take several columns.
plan_final_columns <- function(file, final, attrs, forms) {
  doc <- new_document(FALSE)
  plan <- new_plan(doc)
  plan$forms <- forms
  host <- list(host = "r", form = "data.frame")
  n_rows <- file$facts$n_rows
  if (any(final$is_new)) {
    planned <- plan_columns(plan, final$new, names_of(final$new), n_rows, "x")
    if (plan$n_columns != length_of(final$new)) {
      return(NULL)
    }
    if (length(planned$descriptions) > 0L) host$columns <- planned$descriptions
  }
  if (!stored_names(final$names, length(final$from))$named || "names" %in% names(file$host)) {
    host$names <- encode_value(plan, final$names, "names(x)")
  }
  attributes <- final_attributes(attrs, final)
  if (!identical(attributes, attrs)) {
    host$attributes <- encode_attributes(plan, attributes, "x", skip = c("names", "row.names"))
  }
  if (is.null(doc$walker)) plan_frame_made(plan, host, n_rows)
}

# The file's columns for each vector of the frame. NULL if a vector takes no column, or if a renamed
# vector takes several.
stored_columns <- function(file, final) {
  layout <- layout_of(file)
  facts <- table_facts(file)
  kept <- final$from[!final$is_new]
  width <- rep_len(1, length(final$from))
  if (length(layout$first) != length(facts$name)) {
    width[!final$is_new] <- diff(c(layout$first, length(facts$name)))[kept]
  }
  is_wide <- width > 1
  if (any(width == 0) || length(final$renamed) > 0L && any(final$names[is_wide] %in% final$renamed)) {
    return(NULL)
  }
  positions <- final$from - 1
  positions[!final$is_new] <- layout$first[kept]
  positions <- rep(positions, width) + sequence(width) - 1
  labels <- rep(stored_names(final$names, length(final$from))$labels, width)
  is_part <- rep(is_wide, width)
  labels[is_part] <- facts$name[positions[is_part] + 1]
  list(positions = positions, is_new = rep(final$is_new, width), labels = labels)
}

# The attributes of a frame with other columns. The key of a data.table ends before the first column
# that changed, and has the new names. Its indices are dropped unless columns are only added.
final_attributes <- function(attrs, final) {
  if (!"data.table" %in% attrs[["class"]] || length(final$changed) + length(final$renamed) == 0L) {
    return(attrs)
  }
  attrs[["index"]] <- NULL
  key <- attrs[["sorted"]]
  if (!is.null(key)) {
    lost <- which(key %in% final$changed)
    if (length(lost) > 0L) key <- key[seq_len(lost[1L] - 1L)]
    at <- match(key, names(final$renamed))
    key[!is.na(at)] <- final$renamed[at[!is.na(at)]]
    attrs[["sorted"]] <- if (length(key) > 0L) unname(key)
  }
  attrs
}

# The frame of a file with other columns, in memory.
final_frame <- function(old, final, file) {
  special <- setdiff(oldClass(old), SIMPLE_FRAMES)
  if (length(special) > 0L) {
    return(final_by_class(old, final, special, file))
  }
  columns <- vector("list", length(final$from))
  columns[!final$is_new] <- unclass_all(old)[final$from[!final$is_new]]
  columns[final$is_new] <- unclass_all(final$new)[final$from[final$is_new]]
  attrs <- final_attributes(attributes(old), final)
  attrs["names"] <- list(final$names)
  if (is_table_without_columns(oldClass(old), final)) attrs[["row.names"]] <- c(NA, 0L)
  decorate(columns, attrs)
}

# Calls methods of the class. They may be any code, so the result is checked.
final_by_class <- function(old, final, special, file) {
  refuse <- function(why) {
    abort("unsupported", paste0("not supported: the columns of a frame of class ", shown_class(oldClass(old)), " cannot be changed: ", why,
                                " (file \"", file$path, "\"); read the file, change the frame, and write it again"),
          list(file = file$path))
  }
  load_class(special)
  packages <- unique(unname(CLASS_PACKAGES[intersect(special, names(CLASS_PACKAGES))]))
  absent <- packages[!vapply(packages, isNamespaceLoaded, NA)]
  if (length(absent) > 0L) refuse(paste0("package ", absent[1L], " is not installed"))
  value <- tryCatch(final$set(old), error = function(e) {
    refuse(paste0("its methods say: ", substr(conditionMessage(e), 1L, 200L)))
  })
  is_whole <- is_frame(value) && identical(names_of(value), final$names) && .row_names_info(value, 2L) == .row_names_info(old, 2L)
  if (!is_whole) refuse("its methods return other columns or rows")
  value
}
