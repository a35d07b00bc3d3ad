# Checks a file and repairs it. docs/guides/damage.md has the rules.

verify_entasis <- function(path, limits = list(), generation = NULL, key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  path <- check_path(path)
  if (dir.exists(path)) {
    if (!is.null(generation)) wrong("'generation' is for a file, and '", path, "' is a folder")
    return(invisible(verify_folder(path, limits)))
  }
  generation <- if (is.null(generation)) 0 else check_whole(generation, "generation", 1)
  found <- core(.Call(C_verify, path, check_limits(limits), generation))
  invisible(structure(found[1L], n_generations = found[2L], leftover_bytes = found[3L]))
}

# Checks the files of a folder, and its manifest.
verify_folder <- function(path, limits) {
  manifests <- sort(
    list.files(file.path(path, "_entasis"), "^[0-9]{20}[.]entasis$", full.names = TRUE), decreasing = TRUE
  )
  files <- c(parts_of(path, check_limits(limits))$files, utils::head(manifests, 1L))
  checked <- in_steps(file.size(files), function(i) {
    tryCatch(verify_entasis(files[i], limits, key = secret_in_force()), entasis_error = identity)
  })
  bad <- vapply(checked, inherits, NA, "condition")
  if (!any(bad)) {
    return(sum(vapply(checked, as.double, 0)))
  }
  if (sum(bad) == 1L) stop(checked[[which(bad)]])
  shown <- utils::head(which(bad), 10L)
  said <- paste(vapply(checked[shown], conditionMessage, ""), collapse = "; ")
  abort(
    "corrupt", paste0(sum(bad), " of ", length(files), " files of '", path, "' are damaged: ", said),
    list(file = files[shown[1L]])
  )
}

repair_entasis <- function(path, out, limits = list(), durable = NULL, wait = 10, key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  path <- check_path(path)
  if (!is.character(out) || length(out) != 1L || is.na(out)) must_be("out", "a string", out)
  out <- enc2native(path.expand(out))
  options <- change_options(durable, wait)
  invisible(core(.Call(C_repair, path, out, check_limits(limits), options)))
}
