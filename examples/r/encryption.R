# Write an encrypted file, change it, and add a second key.

library(entasis)

key_file <- tempfile(fileext = ".key")
writeBin(key_bytes_entasis(key_entasis()), key_file)
path <- tempfile(fileext = ".entasis")
patients <- data.frame(id = 1:3, name = c("Ada", "Ben", "Cleo"))

# 32 bytes, or 64 hexadecimal digits. A function asks for the key when it is needed.
key <- key_entasis(file = key_file)
write_entasis(patients, path, key = key)
append_entasis(data.frame(id = 4L, name = "Dora"), path, key = key)
x <- read_entasis(path, key = function() key_entasis(file = key_file))

stopifnot(identical(x$name, c("Ada", "Ben", "Cleo", "Dora")))

# Without the key nothing is read.
caught <- tryCatch(read_entasis(path), entasis_error_wrong_key = function(e) conditionMessage(e))
stopifnot(is.character(caught))

# A password opens the file too. The key is derived from it once.
add_key_entasis(path, new_password = "correct horse battery staple", key = key)
stopifnot(identical(keys_entasis(path)$kind, c("key", "password")))
unlocked <- unlock_entasis(path, "correct horse battery staple")
stopifnot(nrow(entasis(path, key = unlocked)) == 4L)

decrypt_entasis(path, key = key)
stopifnot(identical(read_entasis(path), x))
unlink(c(path, key_file))
