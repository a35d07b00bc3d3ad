# Classes of vectors and frames whose rules the package knows, and the packages with their methods.

# The packages with the methods of classes. Reading some rows of a column or frame of such a class
# loads the package. A file never causes other packages to be loaded.
CLASS_PACKAGES <- c(
  vctrs_vctr = "vctrs", vctrs_rcrd = "vctrs", vctrs_list_of = "vctrs", haven_labelled = "vctrs", hms = "hms",
  integer64 = "bit64",
  zoo = "zoo", xts = "xts", yearmon = "zoo", yearqtr = "zoo", units = "units", sfc = "sf", sf = "sf", Surv = "survival",
  ITime = "data.table", IDate = "data.table", nanotime = "nanotime", grouped_df = "dplyr", rowwise_df = "dplyr",
  tbl_df = "tibble",
  tbl_ts = "tsibble"
)
S4_PACKAGES <- c("lubridate", "nanotime", "bit64", "Matrix", "zoo")

# Classes whose rules the package knows: from R, tibble and data.table.
SIMPLE_FRAMES <- c("data.frame", "tbl_df", "tbl", "data.table")

# Whether the class of a frame keeps the attributes of columns whose classes have no `[` method.
keeps_attributes <- function(class) any(c("tbl_df", KEEPING) %in% class)
KEEPING <- "data.table"

# Tries to load the packages of known classes. Returns the first of them, or NULL.
load_class <- function(class) {
  packages <- unique(unname(CLASS_PACKAGES[intersect(class, names(CLASS_PACKAGES))]))
  for (package in packages) requireNamespace(package, quietly = TRUE)
  if (length(packages) > 0L) packages[1L]
}

load_s4_class <- function(class) {
  package <- attr(class, "package")
  if (is.character(package) && package %in% S4_PACKAGES) requireNamespace(package, quietly = TRUE)
  isClass(class)
}

# Whether a class has a `[` method.
has_method <- function(class) {
  "vctrs_rcrd" %in% class || any(vapply(class, function(name) !is.null(getS3method("[", name, optional = TRUE, envir = globalenv())), NA))
}

# Whether a class has a method of a generic function.
has_method_of <- function(generic, class) {
  any(vapply(class, function(name) !is.null(getS3method(generic, name, optional = TRUE, envir = globalenv())), NA))
}

# The class among attributes of a file.
class_in <- function(attrs) {
  class <- attrs[["class"]]
  if (!is.null(class) && !is.character(class)) nonsense("a class that is not a string")
  class
}
