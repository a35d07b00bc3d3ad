# Writes trees of values. src/walk.c walks them, and asks this code for the values that it does not
# handle: frames become tables, environments get names or numbers, and values that can't be stored
# are refused with their paths.

# Adds a tree, and returns the number of its cell. `root` is the start of its paths: text, or a
# result of `walk_steps`.
document_walk <- function(doc, x, root) {
  if (is.null(doc$walker)) {
    doc$walker <- core(.Call(C_walker, function(holder, type) take_apart(doc, holder, type)))
  }
  doc$root <- root
  .Call(C_walk, doc$walker, x)
}

# Takes a value apart for src/walk.c. Returns a list of a name and parts, whose names give their
# paths; or the number of a table; or NULL for a vector, a pointer or a promise, which C code
# handles.
take_apart <- function(doc, holder, type) {
  switch(type,
    list = apart_list(doc, holder[[1L]]),
    environment = apart_environment(doc, holder[[1L]]),
    closure = apart_function(doc, holder[[1L]]),
    builtin = ,
    special = apart_primitive(doc, holder[[1L]]),
    promise = if (!doc$functions) refuse_code(doc, "a promise that was not evaluated yet"),
    lazy = refuse(walk_path(doc), "a lazy table or list of a file", "read it first, with x[]"),
    externalptr = ,
    weakref = note_pointer(doc, type),
    shell = check_shell(doc, holder[[1L]]),
    `endless pointer` = refuse_value(doc, "an external pointer whose value contains it can't be stored"),
    `too deep` = refuse_depth(walk_path(doc)),
    refuse_value(doc, paste0("a value of type ", type, " can't be stored"))
  )
}

# A table has a fixed cost, which pays off for large frames. Of many small frames, the first become
# tables, and later ones lists with attributes, like frames in a long list (src/write_cells.c).
MANY_FRAMES <- 32L
SMALL_FRAME <- 10000

# Whether a value is the model frame of a model: a data frame with terms, which are a tree. Cells
# share the terms and columns with the rest of the model, and take a third of a table's bytes.
is_model_frame <- function(x) {
  is_terms <- inherits(attr(x, "terms", exact = TRUE), "terms")
  is_terms && identical(attr(x, "class", exact = TRUE), "data.frame") && all(vapply(unclass(x), is_plain_column, NA))
}

# Whether a vector is a plain column of numbers, strings or a factor, which needs no table for other
# hosts.
is_plain_column <- function(x) {
  attrs <- attributes(x)
  is_factor <- identical(names(attrs), c("levels", "class")) && identical(attrs$class, "factor")
  is.atomic(x) && length_of(x) > 1L && !isS4(x) && (is.null(attrs) || is_factor)
}

apart_list <- function(doc, x) {
  if (!is_frame_like(x)) {
    return(apart_family(x))
  }
  known <- utils::gethash(doc$tables, x)
  if (!is.null(known)) {
    return(known)
  }
  n_cells <- length_of(x) * .row_names_info(x, 2L)
  is_part <- n_cells < SMALL_FRAME && (doc$n_frames >= MANY_FRAMES || is_model_frame(x))
  if (!is_part && is_frame(x)) {
    number <- document_frame(doc, x, walk_path(doc))
    utils::sethash(doc$tables, x, number)
    number
  }
}

# A standard family of generalized linear models is stored by name and link, because it contains
# functions. NULL for another family.
apart_family <- function(x) {
  if (isS4(x) || !identical(oldClass(x), "family")) {
    return(NULL)
  }
  x <- unclass(x)
  family <- .subset2(x, "family")
  link <- .subset2(x, "link")
  known <- standard_family(family, link)
  if (is.null(known)) {
    return(NULL)
  }
  if (identical(unclass(known), x, ignore.environment = TRUE, ignore.bytecode = TRUE, ignore.srcref = TRUE)) {
    list("r.family", family, link)
  }
}

apart_environment <- function(doc, x) {
  parts <- utils::gethash(doc$numbers, x)
  if (is.null(parts)) {
    name <- known_environment(x)
    if (is.null(name)) {
      number <- doc$n_environments
      name <- number
      doc$n_environments <- number + 1L
      assign(as.character(number + 1L), list(x, walk_steps(doc)), envir = doc$environments)
    }
    parts <- c(list("r.environment"), as.list(name))
    utils::sethash(doc$numbers, x, parts)
  }
  parts
}

# The name of an environment that exists in every session, or NULL.
known_environment <- function(x) {
  if (identical(x, globalenv())) {
    "global"
  } else if (identical(x, baseenv())) {
    "base"
  } else if (identical(x, .BaseNamespaceEnv)) {
    c("namespace", "base")
  } else if (identical(x, emptyenv())) {
    "empty"
  } else if (isNamespace(x)) {
    c("namespace", enc2utf8(getNamespaceName(x)[[1L]]))
  } else {
    name <- attr(x, "name", exact = TRUE)
    is_package <- is_string(name) && startsWith(name, "package:") && name %in% search()
    if (is_package && identical(x, as.environment(name))) c("package", enc2utf8(substring(name, 9L)))
  }
}

# The contents of an environment: its enclosure, values by name, attributes, whether it is locked,
# and its locked bindings.
environment_record <- function(doc, x, walk) {
  # The first argument of ls() would be passed to as.environment(), which dispatches methods.
  names <- ls(envir = x, all.names = TRUE, sorted = FALSE)
  bindings <- .Call(C_bindings, x, names)
  is_active <- bindings$active
  values <- bindings$values
  names(values) <- names
  active <- NULL
  if (any(is_active)) {
    if (!doc$functions) {
      refuse_code_at(doc, paste0(path_of(walk), "$", quoted(names[is_active][1L])), "an active binding", NULL)
    }
    active <- lapply(names[is_active], activeBindingFunction, x)
    names(active) <- names[is_active]
    values <- values[!is_active]
  }
  # C code can make an environment without an enclosure.
  parent <- parent.env(x)
  record <- list(parent = if (is.environment(parent)) parent else emptyenv(), values = values, attributes = attributes(x),
                 locked = environmentIsLocked(x), bindings = names[bindings$locked], s4 = isS4(x))
  record$active <- active
  record
}

apart_function <- function(doc, x) {
  if (!doc$functions) refuse_code(doc, "a value of type closure")
  parts <- list("r.closure", formals(x), body(x), environment(x), attributes(x), isS4(x))
  names(parts) <- c("%s", "formals(%s)", "body(%s)", "environment(%s)", "%s", "%s")
  parts
}

apart_primitive <- function(doc, x) {
  if (!doc$functions) refuse_code(doc, "a function of R itself")
  name <- sub("^[.]Primitive[(]\"(.*)\"[)]$", "\\1", paste(deparse(x), collapse = ""))
  if (!identical(get0(name, baseenv(), mode = "function"), x)) {
    refuse_value(doc, "a function without a name can't be stored")
  }
  list("r.primitive", name)
}
