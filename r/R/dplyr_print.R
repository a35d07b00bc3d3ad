# Shows queries: their first rows, and how their conditions are tested.

print.entasis_query <- function(x, n = 10, width = getOption("width"), digits = NULL, ...) {
  n <- check_count(n, "n")
  width <- check_count(width, "width")
  size <- dim(x)
  cat(
    "<entasis query> ", lazy_content(x)$file$path, "\n", counted(size[1L], "row"), ", ",
    counted(size[2L], "column"), "\n", sep = ""
  )
  groups <- group_names(x)
  if (length(groups) > 0L) cat(strwrap(paste("Groups:", some_names(groups)), width, exdent = 2L), sep = "\n")
  n_shown <- min(n, size[1L])
  most <- width %/% 4 + 1
  shown <- seq_len(min(size[2L], most))
  rows <- rows_of_query(x)
  narrow <- with_columns(x, function(frame) dplyr::select(dplyr::ungroup(frame), dplyr::all_of(shown)))
  frame <- gather(narrow, if (is.null(rows)) seq_len(n_shown) else rows[seq_len(n_shown)])
  cells <- table_cells(flat_columns(unclass(frame), n_shown, most), n_shown, digits)
  lines <- lay_out(cells, row_labels(frame, seq_len(n_shown)), width)
  if (size[2L] > 0L) cat(lines$text, sep = "\n")
  names <- c(names(cells)[-seq_len(lines$n_columns)], names(x)[-shown])
  rest <- c(
    if (size[1L] > n_shown) counted(size[1L] - n_shown, "more row"),
    if (length(names) > 0L) paste0(counted(length(names), "more column"), ": ", some_names(names))
  )
  if (length(rest) > 0L) cat(strwrap(paste("... with", rest), width, exdent = 4L), sep = "\n")
  invisible(x)
}

str.entasis_query <- function(object, ...) print(object, n = 0)

show_query.entasis_table <- function(x, ...) {
  query <- query_of(x)
  if (is.null(query)) {
    cat(
      "<entasis file> ", file_of(x)$path,
      "\ndplyr gets the whole frame, because its class has rules of its own.\n", sep = ""
    )
    return(invisible(x))
  }
  cat(paste0(explanation(query), "\n"), sep = "")
  invisible(x)
}

explain.entasis_table <- show_query.entasis_table

# Lines that show who tests the conditions, and which data are read.
explanation <- function(query) {
  parts <- lazy_content(query)
  n_rows <- parts$file$facts$n_rows
  positions <- frame_names(parts$file)[parts$at]
  names <- names(query)
  columns <- ifelse(names == positions, names, paste(names, "=", positions))
  tests <- vapply(parts$tests, shown_expression, "")
  c(
    paste0("<entasis query> ", parts$file$path),
    if (length(tests) > 0L) c("Tested by the core:", paste0("  ", tests), paste0("  ", statistics_of(query))),
    unlist(lapply(parts$evaluated, function(by_dplyr) {
      c("Evaluated by dplyr:", paste0("  ", vapply(by_dplyr$conditions, shown_expression, "")),
        paste0("  reading ", if (length(by_dplyr$columns) > 0L) some_names(by_dplyr$columns) else "no column"))
    })),
    if (!is.null(parts$rows)) {
      paste0("Rows: ", shown_number(length(parts$rows)), " of ", shown_number(n_rows), " are chosen")
    }
      else if (length(tests) == 0L) paste0("Rows: all ", shown_number(n_rows)),
    if (length(group_names(query)) > 0L) paste0("Groups: ", some_names(group_names(query))),
    paste0("Columns: ", if (length(columns) > 0L) some_names(columns) else "none")
  )
}

shown_expression <- function(e) cut_text(paste(trimws(deparse(e, width.cutoff = 500L)), collapse = " "), 200L)

# How many rows remain to be tested after the file's statistics decided on the others.
statistics_of <- function(query) {
  parts <- lazy_content(query)
  found <- core(.Call(C_plan_rows, handle_of(parts$file), joined_predicates(parts$tested)))
  paste0(
    "statistics leave ", shown_number(found[["tested"]] + found[["passed"]]), " of ",
    shown_number(found[["rows"]]), " rows"
  )
}

glimpse.entasis_table <- function(x, width = NULL, ...) {
  query <- query_of(x)
  if (is.null(query)) {
    dplyr::glimpse(head(x, 100L), width, ...)
    return(invisible(x))
  }
  size <- dim(x)
  some <- some_of_query(query, seq_len(min(size[1L], 200)))
  lines <- utils::capture.output(dplyr::glimpse(some, width, ...))
  # The first two lines show the size.
  cat(
    paste0(c(paste("Rows:", shown_number(size[1L])), paste("Columns:", shown_number(size[2L])), lines[-(1:2)]), "\n"),
    sep = ""
  )
  invisible(x)
}
