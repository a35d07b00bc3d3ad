# Reads columns of a table in some rows, with the attributes that R would keep.

# Reads columns. `frame_class` decides how some rows of a column are cut: see `slice_value`. Each
# column is read in one of four ways:
# - plain: it has no attributes, or those that its type implies. All of these are read together.
# - grouped: it has other attributes and nothing else. Equal ones are set for many columns at once.
# - whole: the method of its class needs all rows, so these are read, and the wanted ones cut.
# - otherwise by its description: a list, a matrix, a data frame, or an object with parts.
read_columns <- function(file, which, rows, frame_class = NULL) {
  layout <- layout_of(file)
  facts <- table_facts(file)
  descriptions <- layout$descriptions[which]
  at <- layout$first[which] + 1
  reader <- new_reader(file, rows, TRUE)
  out <- vector("list", length(which))
  # A column without a description is plain data of its type.
  described <- !vapply(descriptions, is.null, NA)
  kinds <- integer(length(which))
  kinds[!described] <- reading_kinds(file, facts, at[!described])
  # Columns with implied attributes are read together.
  plain <- !described & (kinds <= CHARACTER | has_implied(file, facts$logical[at], kinds))
  plain_vectors <- if (any(plain)) reader_add(reader, facts, at[plain], kinds[plain])
  n <- file$facts$n_rows
  slicings <- vector("list", length(which))
  is_whole <- logical(length(which))
  if (!is_all(rows) && any(described)) {
    slicings[described] <- lapply(descriptions[described], function(description) slicing_of(file, description, n))
    is_whole <- vapply(slicings, function(slicing) isTRUE(slicing$whole), NA)
  }
  grouped <- described & !is_whole & vapply(descriptions, has_attributes_alone, NA)
  kinds[grouped] <- reading_kinds(file, facts, at[grouped])
  grouped <- grouped & kinds != LIST
  attribute_request <- if (any(grouped)) request_attribute_groups(reader, facts, at[grouped], kinds[grouped], descriptions[grouped])
  others <- which(!plain & !grouped & !is_whole)
  wants <- lapply(others, function(k) reader_want(reader, facts, at[k], descriptions[[k]]))
  reader_levels(
    reader, wants,
    c(facts$dictionary[at[plain & kinds == CODES]], attribute_request$dictionaries[attribute_request$lacks_levels])
  )
  vectors <- reader_run(reader)
  if (any(grouped)) out[grouped] <- finish_attribute_groups(reader, vectors, attribute_request)
  out[plain] <- set_implied(reader, vectors[plain_vectors], kinds[plain], lapply(facts[FACTS_OF_KIND], `[`, at[plain]))
  out[others] <- lapply(wants, function(want) reader_finish(reader, vectors, want))
  if (any(is_whole)) out[is_whole] <- read_columns(file, which[is_whole], ALL_ROWS)
  for (k in which(lengths(slicings) > 0L)) {
    positions <- if (is_whole[k]) row_positions(rows, n) else seq_len(count_rows(rows, n))
    name <- if (!identical(file$host$form, "vector")) layout$names[which[k]]
    out[k] <- list(slice_value(out[[k]], positions, frame_class, is_whole[k], origin_of(file, name)))
  }
  if (!is_all(rows) && "tbl_df" %in% frame_class) {
    changing <- lengths(slicings) == 0L & vapply(out, is_changed_by_vctrs, NA)
    out[changing] <- lapply(out[changing], function(x) vctrs_slice(x, seq_along(x)))
  }
  out
}
