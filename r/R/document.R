# The contents of one file to write: the tables and environments that were found so far.

# The contents of one file.
new_document <- function(functions = FALSE) {
  note_locale()
  doc <- new.env(parent = emptyenv())
  doc$functions <- isTRUE(functions)
  # Frames and environments found so far, by their numbers from 1 on.
  doc$frames <- new.env(parent = emptyenv())
  doc$n_frames <- 0L
  doc$environments <- new.env(parent = emptyenv())
  doc$n_environments <- 0L
  # The parts of the cell of each environment.
  doc$numbers <- utils::hashtab("address")
  # The numbers of frames, so that one that occurs twice is one table.
  doc$tables <- utils::hashtab("address")
  doc$root <- ""
  # How many external pointers and weak references there are, and the path of the first.
  doc$n_pointers <- 0L
  doc$pointer <- NULL
  # Whether the current tree is a record of `environment_record`.
  doc$is_record <- FALSE
  doc
}

# Adds a frame or a vector as a table, and returns the number of the table.
document_frame <- function(doc, x, root) {
  doc$n_frames <- doc$n_frames + 1L
  assign(as.character(doc$n_frames), list(x, root), envir = doc$frames)
  doc$n_frames - 1
}
