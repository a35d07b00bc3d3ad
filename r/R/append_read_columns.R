# Reads columns of the file that gets more rows.

# Some rows of columns of a file, with all their attributes. Without rows they are prototypes.
bare_columns <- function(file, which, rows) {
  layout <- layout_of(file)
  facts <- table_facts(file)
  in_session(file, interpret(file, {
    reader <- new_reader(file, rows, FALSE)
    wants <- lapply(which, function(k) reader_want(reader, facts, layout$first[k] + 1, layout$descriptions[[k]]))
    reader_levels(reader, wants)
    vectors <- reader_run(reader)
    lapply(wants, function(want) reader_finish(reader, vectors, want))
  }))
}
