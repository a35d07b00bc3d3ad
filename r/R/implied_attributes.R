# Sets the attributes that column kinds imply (`implied`), for many columns at once.

# Whether columns of a file get implied attributes: in a file of R, those of the kinds from CODES to
# SPAN_INTEGER (kinds.R), except timestamps of kind INTEGER64.
has_implied <- function(file, logical, kinds) {
  file$own & kinds > CHARACTER & kinds <= SPAN_INTEGER & !(kinds == INTEGER64 & logical == "timestamp")
}

# Sets the implied attributes of the vectors of columns without descriptions. Nothing else may refer
# to the vectors. `kinds` and each part of `facts` have an element for each column.
set_implied <- function(reader, vectors, kinds, facts) {
  at <- which(kinds > CHARACTER)
  if (length(at) == 0L) {
    return(vectors)
  }
  key <- paste(kinds[at], facts$ordered[at], facts$zone[at])
  distinct <- which(!duplicated(key))
  given <- lapply(at[distinct], function(i) implied(kinds[i], facts$ordered[i] > 0L, facts$zone[i]))
  levels <- NULL
  codes <- kinds == CODES
  if (any(codes)) {
    levels <- vector("list", length(kinds))
    levels[codes] <- reader$levels[match(facts$dictionary[codes], reader$dictionaries)]
    if (any(vapply(levels[codes], typeof, "") != "character")) nonsense("levels that are not strings")
    levels <- levels[at]
  }
  vectors[at] <- .Call(C_decorate_all, vectors[at], match(key, key[distinct]), given, levels)
  vectors
}
