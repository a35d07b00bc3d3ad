# What can't be kept: where it is, as R code, and the line that removes it.

# `path` says where in the value it is; `fix` what to do, NULL for nothing that helps.
refuse <- function(path, what, fix = NULL, is_code = FALSE) {
  condition <- tryCatch(
    abort("unsupported", paste0("not supported: ", shortened(path), ": ", what, if (!is.null(fix)) paste0("; ", fix))),
    error = identity
  )
  condition$is_code <- is_code
  stop(condition)
}

# The reason first, as the path is long.
refuse_depth <- function(path) abort("unsupported", paste0("not supported: values are nested deeper than 1,000, at ", shortened(path)))

refuse_value <- function(doc, what) {
  removal <- removal_of(walk_path(doc))
  refuse(walk_path(doc), what, if (!is.null(removal)) paste0("remove it: ", removal))
}

# Code is kept when the user says so.
refuse_code <- function(doc, what) {
  path <- walk_path(doc)
  refuse_code_at(doc, path, what, removal_of(path))
}

refuse_code_at <- function(doc, path, what, removal) {
  refuse(path, paste(what, "is code"), paste0("write with functions = TRUE", if (!is.null(removal)) paste0(", or remove it: ", removal)), TRUE)
}

# Notes an external pointer or weak reference, which becomes a null one.
note_pointer <- function(doc, type) {
  doc$n_pointers <- doc$n_pointers + 1L
  if (is.null(doc$pointer)) doc$pointer <- list(walk_path(doc), if (type == "weakref") "a weak reference" else "an external pointer")
  NULL
}

# Says once what was noted.
tell_pointers <- function(doc) {
  if (doc$n_pointers > 0L) {
    others <- doc$n_pointers - 1L
    message("note: ", shortened(doc$pointer[[1L]]), " is ", doc$pointer[[2L]], ", which is kept as a null one, as saveRDS() keeps it",
            if (others > 0L) paste0(" (", others, if (others == 1L) " other" else " others", " too)"))
  }
}

# A path of at most 300 characters.
shortened <- function(path) {
  n <- nchar(path)
  if (n <= 300L) path else paste0(substr(path, 1L, 140L), " ... ", substr(path, n - 149L, n))
}

# The line that removes what is at a path, or NULL where no line does: the value itself, slots, parts of `...`.
removal_of <- function(path) {
  whole <- sub("^((?:[a-z.]+\\()*)(?=[$\\[@])", "\\1x", path, perl = TRUE)
  target <- tryCatch(str2lang(whole), error = function(e) NULL)
  if (nchar(path) > 300L || !is.call(target) || grepl("...", path, fixed = TRUE)) {
    return(NULL)
  }
  what <- as.character(target[[1L]])
  if (what == "[[" && is.numeric(target[[3L]])) {
    # A list keeps its length, so that a column does.
    return(paste0(sub("\\[(\\[[^][]*\\])\\]$", "\\1", whole), " <- list(NULL)"))
  }
  if (what == "$" || what == "attr") paste(whole, "<- NULL")
}

# Where the walker is: what the walker tells, and the place of the tree that it is in. Most places are never shown, so that their text
# is made when it is asked for.
walk_place <- function(doc) list(steps = .Call(C_walk_place, doc$walker), is_record = doc$is_record, root = doc$root)

# Where the walker is, as R code that gives that part of the value.
walk_path <- function(doc) path_of_place(walk_place(doc))

path_of_place <- function(place) {
  # Environments are in others, as deep as there are any.
  places <- list()
  while (is.list(place)) {
    places[[length(places) + 1L]] <- place
    place <- place$root
  }
  path <- place
  for (inner in rev(places)) {
    path <- add_steps(path, inner$steps, inner$is_record)
    if (path == "") path <- "x"
  }
  path
}

add_steps <- function(path, place, is_record) {
  for (i in seq_along(place$below)) {
    name <- place$name[i]
    at <- sprintf("[[%.0f]]", place$position[i] + 1)
    kind <- BELOW[place$below[i]]
    if (i == 1L && is_record) kind <- name
    template <- switch(kind,
      parent = "parent.env(%s)",
      parts = if (is.na(name)) "%s" else name,
      items = if (is.na(name) || name == "") paste0("%s", at) else paste0("%s$", quoted(name)),
      attributes = if (is.na(name)) "%s" else paste0("attr(%s, ", encodeString(name, quote = "\""), ")"),
      slots = if (is.na(name)) "%s" else paste0("%s@", quoted(name)),
      call = if (place$position[i] < 0) "%s" else paste0("%s", at),
      "%s"
    )
    path <- sub("%s", if (startsWith(template, "%s")) path else if (path == "") "x" else path, template, fixed = TRUE)
  }
  path
}

quoted <- function(name) if (make.names(name) == name) name else encodeString(name, quote = "`")

# What a step of the walker is below, by the numbers of src/walk.c.
BELOW <- c("items", "items", "parts", "vector", "attributes", "text", "call", "call", "symbol", "slots", "vector", "promise", "pointer")
