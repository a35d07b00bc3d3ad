# The frame of a file without rows, on which verbs of dplyr choose columns.

# The frame of a file without rows, or NULL for frames with their own rules.
skeleton_of <- function(file) {
  no_rows <- row_range(0, 0, -1)
  all <- seq_along(frame_names(file))
  if (!file$own) {
    return(read_frame(file, all, no_rows))
  }
  in_session(file, interpret(file, {
    attrs <- own_attributes(file)
    class <- class_in(attrs)
    groups <- attrs[["groups"]]
    is_grouped <- class[1L] == "grouped_df"
    is_plain <- any(
      vapply(PLAIN_CLASSES, identical, NA, class)
    ) && (identical(class, "data.frame") || is.null(file$host$index)) &&
      is.null(attrs[["index"]]) && !(is_grouped && (length(attrs) > 4L || !follow_from_rows(groups)))
    if (is_plain) {
      attrs[["groups"]] <- NULL
      if (is_grouped) attrs[["class"]] <- class[-1L]
      frame <- own_frame(file, skeleton_columns(file, all), all, no_rows, attrs)
      if (is_grouped) {
        frame <- dplyr::grouped_df(frame, setdiff(names(groups), ".rows"), !identical(attr(groups, ".drop"), FALSE))
      }
      frame
    }
  }))
}

# Classes that dplyr cuts by the rules of data frames.
PLAIN_CLASSES <- list("data.frame", c("tbl_df", "tbl", "data.frame"), c("data.table", "data.frame"),
                      c("grouped_df", "tbl_df", "tbl", "data.frame"))

has_plain_names <- function(names) !anyNA(names) && all(names != "") && !anyDuplicated(names)

# Whether dplyr would make the groups of a frame from its rows. With `.preserve = TRUE` a
# group stays without its rows.
follow_from_rows <- function(groups) {
  if (!is.data.frame(groups) || !is.list(groups[[".rows"]])) {
    return(FALSE)
  }
  keys <- dplyr::as_tibble(groups[setdiff(names(groups), ".rows")])
  there <- keys[lengths(groups[[".rows"]]) > 0L, ]
  again <- tryCatch(
    dplyr::grouped_df(there, names(keys), !identical(attr(groups, ".drop"), FALSE)), error = function(e) NULL
  )
  !is.null(again) && identical(lapply(dplyr::group_keys(again), identity), lapply(keys, identity))
}

# Columns without rows.
skeleton_columns <- function(file, which) cut_columns(file, which, integer())
