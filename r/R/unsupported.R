# Errors for values that can't be stored: their path as R code, and the line that removes them.

# `path` is where the value is, `fix` the advice, or NULL for none.
refuse <- function(path, what, fix = NULL, is_code = FALSE) {
  condition <- tryCatch(
    abort("unsupported", paste0("not supported: ", shortened(path), ": ", what, if (!is.null(fix)) paste0("; ", fix))),
    error = identity
  )
  condition$is_code <- is_code
  stop(condition)
}

# The path of a deep value is long, so the reason comes first.
refuse_depth <- function(path) abort(
  "unsupported", paste0("not supported: values are nested deeper than 1,000, at ", shortened(path))
)

refuse_value <- function(doc, what) {
  removal <- removal_of(walk_path(doc))
  refuse(walk_path(doc), what, if (!is.null(removal)) paste0("remove it: ", removal))
}

# Code is stored only if the user asked for it.
refuse_code <- function(doc, what) {
  path <- walk_path(doc)
  refuse_code_at(doc, path, what, removal_of(path))
}

refuse_code_at <- function(doc, path, what, removal) {
  refuse(
    path, paste(what, "is code"),
    paste0("write with functions = TRUE", if (!is.null(removal)) paste0(", or remove it: ", removal)), TRUE
  )
}

# Shortens a path to 300 characters.
shortened <- function(path) {
  n <- nchar(path)
  if (n <= 300L) path else paste0(substr(path, 1L, 140L), " ... ", substr(path, n - 149L, n))
}

# The line of R that removes the value at a path. NULL if there is none: for the whole value, slots,
# and parts of `...`.
removal_of <- function(path) {
  whole <- sub("^((?:[a-z.]+\\()*)(?=[$\\[@])", "\\1x", path, perl = TRUE)
  target <- tryCatch(str2lang(whole), error = function(e) NULL)
  is_unreachable <- grepl("...", path, fixed = TRUE) || grepl(IN_POINTER, path)
  if (nchar(path) > 300L || !is.call(target) || is_unreachable) {
    return(NULL)
  }
  formula <- formula_around(target)
  if (!is.null(formula)) {
    # The caller needs the variables of the environment.
    return(paste0("attr(", deparse(formula, width.cutoff = 500L), ", \".Environment\") <- globalenv()"))
  }
  what <- as.character(target[[1L]])
  if (what == "[[" && is.numeric(target[[3L]])) {
    # The list must keep its length, because it may be a column.
    return(paste0(sub("\\[(\\[[^][]*\\])\\]$", "\\1", whole), " <- list(NULL)"))
  }
  if (what == "$" || what == "attr") paste(whole, "<- NULL")
}

# The formula in whose environment a value is, or NULL.
formula_around <- function(target) {
  while (is.call(target)) {
    if (identical(target[[1L]], quote(attr)) && identical(target[[3L]], ".Environment")) {
      return(target[[2L]])
    }
    target <- target[[2L]]
  }
  NULL
}

# The steps from the root of the walked tree to the value, and the path of that root. Most paths are
# never shown, so `path_of` makes the text on demand.
walk_steps <- function(doc) list(steps = .Call(C_walk_steps, doc$walker), is_record = doc$is_record, root = doc$root)

# The path of the walker, as R code.
walk_path <- function(doc) path_of(walk_steps(doc))

path_of <- function(walk) {
  # Environments nest without limit, so this is a loop.
  walks <- list()
  while (is.list(walk)) {
    walks[[length(walks) + 1L]] <- walk
    walk <- walk$root
  }
  path <- walk
  for (inner in rev(walks)) {
    path <- add_steps(path, inner$steps, inner$is_record)
    if (path == "") path <- "x"
  }
  path
}

add_steps <- function(path, steps, is_record) {
  for (i in seq_along(steps$below)) {
    name <- steps$name[i]
    at <- sprintf("[[%.0f]]", steps$position[i] + 1)
    kind <- BELOW[steps$below[i]]
    if (i == 1L && is_record) kind <- name
    template <- switch(kind,
      parent = "parent.env(%s)",
      parts = if (is.na(name)) "%s" else name,
      items = if (is.na(name) || name == "") paste0("%s", at) else paste0("%s$", quoted(name)),
      attributes = if (is.na(name)) "%s" else paste0("attr(%s, ", encodeString(name, quote = "\""), ")"),
      slots = if (is.na(name)) "%s" else paste0("%s@", quoted(name)),
      call = if (steps$position[i] < 0) "%s" else paste0("%s", at),
      pointer = if (steps$position[i] < 0) "%s" else if (steps$position[i] == 0) "tag.of(%s)" else "protected.by(%s)",
      "%s"
    )
    path <- sub("%s", if (startsWith(template, "%s")) path else if (path == "") "x" else path, template, fixed = TRUE)
  }
  path
}

quoted <- function(name) if (make.names(name) == name) name else encodeString(name, quote = "`")

# The values of an external pointer, which no function of R returns.
IN_POINTER <- "(tag[.]of|protected[.]by)\\("

# The kinds of steps, by the numbers of src/walker.h.
BELOW <- c(
  "items", "items", "parts", "vector", "attributes", "text", "call", "call", "symbol", "slots", "vector",
  "promise", "pointer"
)
