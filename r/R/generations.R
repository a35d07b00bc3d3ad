# The generations of a file: rollback() to one of them, keep() and compact(). docs/guides/changes.md
# has the rules.

generations_entasis <- function(path, limits = list(), key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  file <- open_file(path, limits = limits)
  on.exit(close_file(file), add = TRUE)
  found <- core(.Call(C_generations, file$handle))
  found$number <- as.integer(found$number)
  found$time <- .POSIXct(found$time)
  decorate(unname(found), list(names = names(found), class = "data.frame", row.names = c(NA, -length(found$number))))
}

rollback_entasis <- function(path, generation, durable = NULL, wait = 10, compact = FALSE, key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  path <- check_path(path)
  check_flag(compact, "compact")
  generation <- check_whole(generation, "generation", 1)
  options <- change_options(durable, wait)
  roll_back(path, generation, options)
  if (compact) compact_file(path, durable, wait)
  invisible()
}

# Holds the lock of the file until it returns.
roll_back <- function(path, generation, options) {
  change <- begin_change(path, options)
  on.exit(.Call(C_change_end, change))
  core(.Call(C_rollback, change, generation, options))
}

keep_entasis <- function(path, generations, durable = NULL, wait = 10, key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  path <- check_path(path)
  wish <- kept_generations(generations)
  options <- change_options(durable, wait)
  change <- begin_change(path, options)
  on.exit(.Call(C_change_end, change), add = TRUE)
  core(.Call(C_keep, change, wish[[1L]], wish[[2L]], options))
  invisible()
}

# The code of a unit in the format, and a number: generations, or nanoseconds of a time.
kept_generations <- function(generations) {
  if (is.null(generations)) return(list(0L, 0))
  if (!inherits(generations, "difftime")) return(list(1L, check_whole(generations, "generations", 1)))
  seconds <- as.double(generations, units = "secs")
  if (length(seconds) != 1L || is.na(seconds) || seconds <= 0 || seconds > 9e9) {
    must_be("generations", "a number of earlier generations, or a positive difftime", generations)
  }
  list(2L, seconds * 1e9)
}

compact_file <- function(path, durable = NULL, wait = 10, rekey = FALSE) {
  options <- change_options(durable, wait)
  change <- begin_change(path, options)
  on.exit(.Call(C_change_end, change))
  core(.Call(C_compact, change, rekey, options))
  invisible()
}
