# Functions of other packages whose default method takes any value, and so would take a lazy
# object's pointer. They get the frame or list in memory instead.

READS_WHOLE <- list(
  Hmisc = c("as.discrete", "ceil", "describe", "html", "impute", "label", "latex", "spearman2", "units"),
  datawizard = c(
    "categorize", "center", "convert_na_to", "convert_to_na", "data_arrange", "data_tabulate",
    "describe_distribution", "recode_values",
    "rescale", "reverse", "slide", "standardize", "to_factor", "to_numeric"
  ),
  haven = c("zap_formats", "zap_label", "zap_labels", "zap_missing", "zap_widths"),
  insight = c(
    "clean_names", "ellipsis_info", "find_formula", "find_parameters", "find_predictors", "find_random",
    "find_response", "find_terms",
    "format_string", "get_data", "get_intercept", "get_parameters", "get_random", "is_mixed_model",
    "is_nullmodel", "model_info",
    "model_name", "n_parameters", "n_unique", "standardize_column_order", "standardize_names", "text_remove_backticks"
  ),
  sf = c(
    "st_agr", "st_area", "st_as_sf", "st_as_sfc", "st_buffer", "st_cast", "st_centroid", "st_coordinates",
    "st_crop", "st_difference",
    "st_drop_geometry", "st_filter", "st_intersection", "st_intersects", "st_is_valid", "st_join",
    "st_simplify", "st_transform", "st_union"
  ),
  sjlabelled = c(
    "as_character", "as_factor", "as_label", "as_labelled", "as_numeric", "get_label", "get_labels", "get_na",
    "get_values", "remove_all_labels"
  ),
  units = "as_units",
  xts = c("tclass", "tzone", "xcoredata"),
  zoo = c("as.zoo", "as.zooreg", "coredata", "index", "is.regular", "na.aggregate", "na.approx", "na.fill", "na.locf", "na.spline", "na.trim",
          "rollapply", "rollmax", "rollmean", "rollmedian", "rollsum")
)

# The method of a generic function, which reads its arguments.
reading_method <- function(generic) {
  force(generic)
  function(...) do.call(generic, lapply(list(...), read_lazy), quote = TRUE)
}

# Registers the methods for each package now, or when it is loaded.
register_for_others <- function() {
  lapply(names(READS_WHOLE), function(package) {
    register <- function(...) register_reading(package)
    if (isNamespaceLoaded(package)) register() else setHook(packageEvent(package, "onLoad"), register)
  })
}

register_reading <- function(package) {
  home <- asNamespace(package)
  # Other versions of a package may lack some.
  for (name in Filter(function(name) exists(name, envir = home, mode = "function"), READS_WHOLE[[package]])) {
    method <- reading_method(get(name, envir = home))
    for (class in c("entasis_table", "entasis_tree")) registerS3method(name, class, method, envir = home)
  }
}

# The geometry of an sf frame, without the other columns.
st_geometry.entasis_table <- function(obj, ...) {
  file <- if (!inherits(obj, "entasis_query")) file_of(obj)
  name <- if (!is.null(file) && file$own && !isTRUE(file$as_table)) interpret(file, own_attribute(file, "sf_column"))
  geometry <- if (is_string(name)) obj[[name]]
  if (inherits(geometry, "sfc")) geometry else sf::st_geometry(obj[], ...)
}

st_bbox.entasis_table <- function(obj, ...) sf::st_bbox(st_geometry.entasis_table(obj), ...)

st_crs.entasis_table <- function(x, ...) sf::st_crs(st_geometry.entasis_table(x), ...)
