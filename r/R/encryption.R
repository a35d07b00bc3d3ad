# Keys of encrypted files: makes, adds and removes them, and encrypts and decrypts files.

key_entasis <- function(bytes = NULL, file = NULL) {
  if (is.null(file)) {
    if (!is.null(bytes) && !is.raw(bytes)) {
      wrong("'bytes' must be a raw vector of 32 bytes, not a value of type ", typeof(bytes))
    }
    return(core(.Call(C_secret_key, if (!is.null(bytes)) as.vector(bytes))))
  }
  if (!is.null(bytes)) wrong("'bytes' and 'file' are both given: pass one of them")
  core(.Call(C_secret_file, check_path(file, name = "file")))
}

key_bytes_entasis <- function(key) {
  if (!inherits(key, "entasis_key")) must_be("key", "a key of key_entasis()", key)
  check_session(key)
  .Call(C_secret_bytes, key)
}

format.entasis_key <- function(x, ...) "<entasis key>"

print.entasis_key <- function(x, ...) {
  cat("<entasis key>\n")
  invisible(x)
}

str.entasis_key <- print.entasis_key

unlock_entasis <- function(path, password) {
  before <- use_secret(NULL, password)
  on.exit(restore_secret(before))
  core(.Call(C_unlock, check_path(path)))
}

encrypt_entasis <- function(path, out = NULL, key = NULL, password = NULL, overwrite = TRUE, durable = NULL, wait = 10) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  store_anew(path, out, FALSE, overwrite, durable, wait)
}

decrypt_entasis <- function(path, out = NULL, key = NULL, password = NULL, overwrite = TRUE, durable = NULL, wait = 10) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  store_anew(path, out, TRUE, overwrite, durable, wait)
}

# Encrypts or decrypts a file, at its place or as another file.
store_anew <- function(path, out, decrypts, overwrite, durable, wait) {
  path <- check_path(path)
  check_flag(overwrite, "overwrite")
  if (!is.null(out)) {
    out <- check_path(out, name = "out")
    check_overwrite(overwrite, out)
  }
  options <- change_options(durable, wait, must_be_new = !is.null(out) && !overwrite)
  core(.Call(C_encrypt, path, out, decrypts, options))
  invisible(if (is.null(out)) path else out)
}

add_key_entasis <- function(path, new_key = NULL, new_password = NULL, key = NULL, password = NULL, wait = 10) {
  path <- check_path(path)
  new <- checked_secret(new_key, new_password, "new_")
  if (is.null(new)) wrong("pass the key or password to add as 'new_key' or 'new_password'")
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  core(.Call(C_add_key, path, new, change_options(NULL, wait)))
  invisible()
}

remove_key_entasis <- function(path, number = NULL, key = NULL, password = NULL, wait = 10) {
  path <- check_path(path)
  number <- if (is.null(number)) -1 else check_whole(number, "number", 0)
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  core(.Call(C_remove_key, path, number, change_options(NULL, wait)))
  invisible()
}

keys_entasis <- function(path) {
  kinds <- as.character(unlist(core(.Call(C_keys, check_path(path)))$kinds))
  data.frame(number = seq_along(kinds) - 1L, kind = kinds)
}
