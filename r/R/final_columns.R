# Another choice of columns of a frame: in the file, or of the frame in memory.

# Changes the columns of a file without storing those that stay. False if the file has to be written
# anew.
choose_in_place <- function(file, choice, change, operation, options) {
  attrs <- in_session(file, interpret(file, own_attributes(file)))
  class <- class_in(attrs)
  layout <- layout_of(file)
  is_plain <- all(class %in% SIMPLE_FRAMES) && !is.null(layout$names) && is.null(attributes(layout$names))
  if (!is_plain || is_table_without_columns(class, choice)) {
    return(FALSE)
  }
  planned <- plan_choice(file, choice, attrs)
  columns <- stored_columns(file, choice)
  if (is.null(planned) || is.null(columns)) {
    return(FALSE)
  }
  core(.Call(C_change_columns, change, planned, columns$places, columns$is_new, columns$labels, operation, options))
}

# A data.table without columns has no rows.
is_table_without_columns <- function(class, choice) "data.table" %in% class && length(choice$from) == 0L

# The frame of the new columns, with what the host map says about all columns. NULL if there are
# objects, or a vector that takes several columns.
plan_choice <- function(file, choice, attrs) {
  doc <- new_document(FALSE)
  plan <- new_plan(doc)
  host <- list(host = "r", form = "data.frame")
  n_rows <- file$facts$n_rows
  if (any(choice$is_new)) {
    planned <- plan_columns(plan, choice$new, names_of(choice$new), n_rows, "x")
    if (plan$n_columns != length_of(choice$new)) {
      return(NULL)
    }
    if (length(planned$descriptions) > 0L) host$columns <- planned$descriptions
  }
  if (!stored_names(choice$names, length(choice$from))$named || "names" %in% names(file$host)) {
    host$names <- encode_value(plan, choice$names, "names(x)")
  }
  chosen <- chosen_attributes(attrs, choice)
  if (!identical(chosen, attrs)) host$attributes <- encode_attributes(plan, chosen, "x", skip = c("names", "row.names"))
  if (is.null(doc$walker)) plan_frame_made(plan, host, n_rows)
}

# The columns of the file that the chosen ones take. NULL if a vector takes none, or one that takes
# several gets another name.
stored_columns <- function(file, choice) {
  layout <- layout_of(file)
  facts <- table_facts(file)
  kept <- choice$from[!choice$is_new]
  width <- rep_len(1, length(choice$from))
  if (length(layout$first) != length(facts$name)) {
    width[!choice$is_new] <- diff(c(layout$first, length(facts$name)))[kept]
  }
  is_wide <- width > 1
  if (any(width == 0) || length(choice$renamed) > 0L && any(choice$names[is_wide] %in% choice$renamed)) {
    return(NULL)
  }
  places <- choice$from - 1
  places[!choice$is_new] <- layout$first[kept]
  places <- rep(places, width) + sequence(width) - 1
  labels <- rep(stored_names(choice$names, length(choice$from))$labels, width)
  is_part <- rep(is_wide, width)
  labels[is_part] <- facts$name[places[is_part] + 1]
  list(places = places, is_new = rep(choice$is_new, width), labels = labels)
}

# The attributes of a frame with other columns. The key of a data.table ends before the first column
# that changed, and has the new names. Its indices go unless columns are only added.
chosen_attributes <- function(attrs, choice) {
  if (!"data.table" %in% attrs[["class"]] || length(choice$changed) + length(choice$renamed) == 0L) {
    return(attrs)
  }
  attrs[["index"]] <- NULL
  key <- attrs[["sorted"]]
  if (!is.null(key)) {
    lost <- which(key %in% choice$changed)
    if (length(lost) > 0L) key <- key[seq_len(lost[1L] - 1L)]
    at <- match(key, names(choice$renamed))
    key[!is.na(at)] <- choice$renamed[at[!is.na(at)]]
    attrs[["sorted"]] <- if (length(key) > 0L) unname(key)
  }
  attrs
}

# The frame of a file with other columns, in memory.
chosen_frame <- function(old, choice, file) {
  special <- setdiff(oldClass(old), SIMPLE_FRAMES)
  if (length(special) > 0L) {
    return(chosen_by_class(old, choice, special, file))
  }
  columns <- vector("list", length(choice$from))
  columns[!choice$is_new] <- unclass_all(old)[choice$from[!choice$is_new]]
  columns[choice$is_new] <- unclass_all(choice$new)[choice$from[choice$is_new]]
  attrs <- chosen_attributes(attributes(old), choice)
  attrs["names"] <- list(choice$names)
  if (is_table_without_columns(oldClass(old), choice)) attrs[["row.names"]] <- c(NA, 0L)
  decorate(columns, attrs)
}

# By the methods of the class, which may be any code, so the result is checked.
chosen_by_class <- function(old, choice, special, file) {
  refuse <- function(why) {
    abort("unsupported", paste0("not supported: the columns of a frame of class ", shown_class(oldClass(old)), " cannot be changed: ", why,
                                " (file \"", file$path, "\"); read the file, change the frame, and write it again"),
          list(file = file$path))
  }
  load_class(special)
  packages <- unique(unname(CLASS_PACKAGES[intersect(special, names(CLASS_PACKAGES))]))
  absent <- packages[!vapply(packages, isNamespaceLoaded, NA)]
  if (length(absent) > 0L) refuse(paste0("package ", absent[1L], " is not installed"))
  value <- tryCatch(choice$set(old), error = function(e) {
    refuse(paste0("its methods say: ", substr(conditionMessage(e), 1L, 200L)))
  })
  is_whole <- is_frame(value) && identical(names_of(value), choice$names) && .row_names_info(value, 2L) == .row_names_info(old, 2L)
  if (!is_whole) refuse("its methods return other columns or rows")
  value
}
