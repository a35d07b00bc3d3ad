# Factors and strings of new rows.

# Converts strings and factors to the type of a column of strings or a factor, as `convert_rows`.
convert_text <- function(old, new) {
  if (is.character(old) && is.null(oldClass(old)) && is.factor(new)) {
    return(list(value = as.character(new), misfit = NA_integer_))
  }
  if (!is.factor(old) || !is.factor(new) && (!is.character(new) || is.object(new))) {
    return(NULL)
  }
  if (is.ordered(old)) {
    # Ordered factors with other levels have another order.
    if (is.ordered(new)) {
      return(NULL)
    }
    codes <- match(as.character(new), levels(old))
    misfit <- which(is.na(codes) & !is.na(as.character(new)))[1L]
    return(list(value = decorate(codes, list(levels = levels(old), class = oldClass(old))), misfit = misfit))
  }
  if (is.character(new)) new <- factor(new, unique(new[!is.na(new)]))
  list(value = decorate(unclass_all(new), list(levels = levels(new), class = oldClass(old))), misfit = NA_integer_)
}

# Factors get the levels of both, the levels of the file first. Ordered ones must have equal levels.
# If one level is NA, missing values get it, as in rbind().
fit_factors <- function(old, new, label, rules) {
  levels <- levels(old)
  more <- setdiff(levels(new), levels)
  if (is.ordered(old) && !identical(levels, levels(new))) refuse_types(old, new, label, rules$file)
  all <- c(levels, more)
  codes <- match(levels(new), all)[unclass_all(new)]
  attrs <- row_independent(attributes(old))
  attrs$levels <- all
  if (length(more) > 0L) attr(old, "levels") <- all
  grows <- FALSE
  if (anyNA(all)) {
    codes[is.na(codes)] <- match(NA, all)
    missing <- which(is.na(unclass_all(old)))
    grows <- length(missing) > 0L
    if (grows) old <- decorate(replace(unclass_all(old), missing, match(NA, all)), attributes(old))
  }
  list(old = old, new = decorate(codes, attrs), grows = grows)
}
