# Sessions of reading a file.

# Within a session, each environment and table of the file is built once. Environments are filled
# after everything else, because one may contain the table that is being read.
in_session <- function(file, expr) {
  is_outermost <- is.null(file$session)
  if (is_outermost) {
    # Then `load_bit64` sees whether this session made a vector of integer64.
    .Call(C_has_made_integer64, FALSE)
    session <- new_session(file)
    file$session <- session
    on.exit({
      file$session <- NULL
      .Call(C_unload, session$loaded)
      if (!is.null(session$whole)) close_file(session$whole)
    })
  }
  value <- expr
  if (is_outermost) {
    finish_environments(file$session)
    load_bit64(file)
  }
  value
}

new_session <- function(file) {
  session <- new.env(parent = emptyenv())
  session$file <- file
  session$environments <- new.env(parent = emptyenv())
  session$pending <- NULL
  session$tables <- list()
  # The cells that C loaded, and the view of the whole file, once they are needed.
  session$loaded <- NULL
  session$whole <- NULL
  session
}
