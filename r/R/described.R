# Columns whose descriptions tell attributes alone, as labels and times without a zone have: read together, and those of one description
# get the same attributes.

tells_attributes <- function(description) identical(names(description), "attributes")

# The numbers of the descriptions that each is like: itself, or an earlier one.
like_earlier <- function(descriptions) {
  known <- utils::hashtab("identical")
  # The table takes 0 for -0 and any NaN for another.
  is_like <- function(k, of) of > 0L && identical(descriptions[[of]], descriptions[[k]], num.eq = FALSE, single.NA = FALSE)
  like <- seq_along(descriptions)
  before <- 0L
  for (k in like) {
    if (!is_like(k, before)) {
      before <- utils::gethash(known, descriptions[[k]], 0L)
      if (!is_like(k, before)) {
        utils::sethash(known, descriptions[[k]], k)
        before <- k
      }
    }
    like[k] <- before
  }
  like
}

# Adds columns of R that are one of the file's each, and of no lists. Returns what `finish_described` needs.
want_described <- function(reader, facts, which, kinds, descriptions) {
  like <- like_earlier(descriptions)
  distinct <- unique(like)
  given <- lapply(descriptions[distinct], function(description) {
    attrs <- lapply_pairs(extras_of(reader$file), description$attributes)
    if (any(c("data.frame", "POSIXlt") %in% unlist(attrs[names(attrs) == "class"]))) nonsense("a vector of a class of lists")
    attrs[!vapply(attrs, is.null, NA) | names(attrs) == "levels"]
  })
  group <- match(like, distinct)
  seconds <- rep_len(1L, length(which))
  spans <- kinds == SPAN
  if (any(spans)) {
    by_group <- integer(length(given))
    by_group[unique(group[spans])] <- vapply(given[unique(group[spans])], function(attrs) seconds_of(attrs$units), 1L)
    seconds[spans] <- by_group[group[spans]]
  }
  lacks_levels <- vapply(given, function(attrs) "levels" %in% names(attrs) && is.null(attrs$levels), NA)[group]
  if (any(lacks_levels & kinds != CODES)) nonsense("levels of what is no factor")
  list(
    group = group, attributes = lapply(given, row_attributes, reader$rows), lacks_levels = lacks_levels,
    dictionaries = facts$dictionary[which], vectors = reader_add(reader, facts, which, kinds, seconds)
  )
}

# The vectors that were wanted.
finish_described <- function(reader, vectors, want) {
  levels <- NULL
  if (any(want$lacks_levels)) {
    levels <- vector("list", length(want$group))
    numbers <- want$dictionaries[want$lacks_levels]
    levels[want$lacks_levels] <- reader$levels[match(numbers, reader$dictionaries)]
  }
  .Call(C_decorate_all, vectors[want$vectors], want$group, want$attributes, levels)
}
