# Checks a file and repairs it. docs/guides/damage.md has the rules.

verify_entasis <- function(path, limits = list(), generation = NULL) {
  path <- check_path(path)
  generation <- if (is.null(generation)) 0 else check_whole(generation, "generation", 1)
  found <- core(.Call(C_verify, path, check_limits(limits), generation))
  invisible(structure(found[1L], n_generations = found[2L], leftover_bytes = found[3L]))
}

repair_entasis <- function(path, out, limits = list(), durable = NULL, wait = 10) {
  path <- check_path(path)
  if (!is.character(out) || length(out) != 1L || is.na(out)) must_be("out", "a string", out)
  out <- enc2native(path.expand(out))
  options <- change_options(durable, wait)
  invisible(core(.Call(C_repair, path, out, check_limits(limits), options)))
}
