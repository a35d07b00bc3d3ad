# External pointers, which are null when read, and the R values they refer to. An object that
# consists only of pointers is refused, since reading it would lose its data.

# Notes an external pointer or weak reference, whose address is not stored.
note_pointer <- function(doc, type) {
  if (type == "externalptr" && is_whole_value(doc)) refuse_shell(doc, "an external pointer", NULL)
  doc$n_pointers <- doc$n_pointers + 1L
  if (is.null(doc$pointer)) {
    what <- if (type == "weakref") "a weak reference, which" else "an external pointer, whose address"
    doc$pointer <- list(walk_path(doc), what)
  }
  NULL
}

# Reports the noted pointers in one message.
report_pointers <- function(doc) {
  if (doc$n_pointers > 0L) {
    others <- doc$n_pointers - 1L
    message("note: ", shortened(doc$pointer[[1L]]), " is ", doc$pointer[[2L]], " is stored as null, as by saveRDS()",
            if (others > 0L) paste0(" (", others, if (others == 1L) " other" else " others", " too)"))
  }
}

# Whether the walker is at the value itself, and not inside of it.
is_whole_value <- function(doc) identical(walk_path(doc), "x")

# Refuses an object whose parts are all pointers to memory. src/pointers.c finds the candidates.
check_shell <- function(doc, x) {
  # A column of pointers is a list: each pointer is noted by itself.
  if (is.list(x) && (inherits(x, "AsIs") || inherits(x, "vctrs_list_of"))) {
    return(NULL)
  }
  attrs <- attributes(x)
  if (is_of_cpp(x)) {
    # With functions = TRUE it is stored as a part of another object, such as a model.
    if (doc$functions && !is_whole_value(doc)) {
      return(NULL)
    }
  } else {
    references <- Filter(isS4, attrs[names(attrs) != "class"])
    if (".xData" %in% names(attrs) || !all(vapply(references, is_of_cpp, NA))) {
      return(NULL)
    }
  }
  class <- attr(x, "class", exact = TRUE)
  package <- attr(class, "package", exact = TRUE)
  refuse_shell(doc, paste0("an object of class \"", class[1L], "\""), c(package, class))
}

# Whether a value is an object of C++ that Rcpp manages.
is_of_cpp <- function(x) isS4(x) && inherits(x, "C++Object")

refuse_shell <- function(doc, what, names) {
  known <- intersect(names, names(SHELLS))
  path <- walk_path(doc)
  removal <- removal_of(path)
  convert <- "store what its package converts it to"
  fix <- if (length(known) > 0L) SHELLS[[known[1L]]] else paste0(convert, if (!is.null(removal)) paste0(", or remove it: ", removal))
  refuse(path, paste(what, "keeps its data outside of R, where they can't be read"), fix)
}

# Advice for objects whose data are outside of R, by package or class.
SHELLS <- list(
  terra = "write terra::wrap(x), and call terra::unwrap() on what is read",
  bigmemory = "write x[, ], or bigmemory::describe(x) for a matrix in a file",
  ff = "write x[], or use ff::ffsave()",
  xml_document = "write as.character(x), and call xml2::read_xml() on what is read",
  xml_node = "write as.character(x), and call xml2::read_xml() on what is read"
)
