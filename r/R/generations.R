# The generations of a file, rollback() to one of them, and compact(). docs/guides/changes.md has
# the rules.

generations_entasis <- function(path, limits = list()) {
  file <- open_file(path, limits = limits)
  on.exit(close_file(file))
  found <- core(.Call(C_generations, file$handle))
  found$number <- as.integer(found$number)
  found$time <- .POSIXct(found$time)
  decorate(unname(found), list(names = names(found), class = "data.frame", row.names = c(NA, -length(found$number))))
}

rollback_entasis <- function(path, generation, durable = NULL, wait = 10, compact = FALSE) {
  path <- check_path(path)
  check_flag(compact, "compact")
  generation <- check_whole(generation, "generation", 1)
  options <- change_options(durable, wait)
  roll_back(path, generation, options)
  if (compact) compact_entasis(path, durable, wait)
  invisible()
}

# Holds the lock of the file until it returns.
roll_back <- function(path, generation, options) {
  change <- begin_change(path, options)
  on.exit(.Call(C_change_end, change))
  core(.Call(C_rollback, change, generation, options))
}

compact_entasis <- function(path, durable = NULL, wait = 10) {
  path <- check_path(path)
  options <- change_options(durable, wait)
  change <- begin_change(path, options)
  on.exit(.Call(C_change_end, change))
  core(.Call(C_compact, change, options))
  invisible()
}
