# Keys and passwords. One secret is in force during each call of the package: it opens the files of
# the call, and encrypts those that it writes. Functions that users call put theirs in force first,
# and none if they got none, so that calls within calls do not see that of another file.

# Puts a key or password in force. Returns the secret that was, for `restore_secret`.
use_secret <- function(key, password) .Call(C_use_secret, checked_secret(key, password))

restore_secret <- function(before) .Call(C_use_secret, before)

# The secret in force, to pass as `key` of another call or to keep with an open file; NULL for none.
secret_in_force <- function() .Call(C_secret_in_force)

# Evaluates code with a secret in force, or none for NULL and for one of another session.
with_secret <- function(secret, expr) {
  before <- .Call(C_use_secret, secret)
  on.exit(.Call(C_use_secret, before))
  expr
}

# The secret of two arguments. At most one may be given. No message shows a value.
checked_secret <- function(key, password, prefix = "") {
  names <- paste0("'", prefix, c("key", "password"), "'")
  if (!is.null(password)) {
    if (!is.null(key)) wrong(names[1L], " and ", names[2L], " are both given: pass one of them")
    if (!is.character(password) || length(password) != 1L || is.na(password)) wrong(names[2L], " must be a string")
    return(core(.Call(C_secret_password, enc2utf8(password))))
  }
  if (is.function(key)) key <- key()
  if (is.null(key)) {
    return(NULL)
  }
  if (inherits(key, c("entasis_key", "entasis_password"))) {
    check_session(key)
    return(key)
  }
  if (!is.raw(key)) {
    wrong(names[1L], " must be a raw vector of 32 bytes, a key of key_entasis(), or a function without arguments that returns one, not a value of type ",
          typeof(key))
  }
  core(.Call(C_secret_key, as.vector(key)))
}

check_session <- function(key) {
  if (!.Call(C_is_open, key)) wrong("the key is of another session, and keys are never saved: make it again with key_entasis()")
}

key_entasis <- function(bytes = NULL, file = NULL) {
  if (is.null(file)) {
    if (!is.null(bytes) && !is.raw(bytes)) wrong("'bytes' must be a raw vector of 32 bytes, not a value of type ", typeof(bytes))
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
