# Keys and passwords. One secret is in force during each call of the package: it opens the files of
# the call, and encrypts those that it writes. Functions that users call put theirs in force first,
# and none if they got none, so that calls within calls do not see that of another file.

# Puts a key or password in force. Returns the secret that was, for `restore_secret`.
use_secret <- function(key, password) .Call(C_use_secret, checked_secret(key, password))

# The same for a new file, which `key = FALSE` makes plain.
use_secret_to_write <- function(key, password) {
  if (isFALSE(key) && !is.null(password)) wrong("'key' and 'password' are both given: pass one of them")
  use_secret(if (!isFALSE(key)) key, password)
}

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
  if (is.function(key)) {
    key <- key()
    if (is.null(key)) wrong("the function for ", names[1L], " returned NULL, not a key")
  }
  if (is.null(key)) {
    return(NULL)
  }
  if (inherits(key, c("entasis_key", "entasis_password"))) {
    check_session(key)
    return(key)
  }
  if (isFALSE(key)) wrong("key = FALSE is for new files that are not encrypted: leave it out")
  if (!is.raw(key)) {
    wrong(names[1L], " must be a raw vector of 32 bytes, a key of key_entasis(), or a function without arguments that returns one, not a value of type ",
          typeof(key))
  }
  core(.Call(C_secret_key, as.vector(key)))
}

check_session <- function(key) {
  if (!.Call(C_is_open, key)) {
    wrong("the key is of another session, and keys are never saved: make it again with key_entasis()")
  }
}
