# Encrypted files: keys, passwords, and every function that takes them.

key_of <- function(n) key_entasis(as.raw((seq_len(32) * 7 + n) %% 256))

key <- key_of(1)
other <- key_of(2)

sealed <- function(x, ..., key = key_of(1)) {
  path <- tempfile(fileext = ".entasis")
  write_entasis(x, path, ..., key = key)
  path
}

contains <- function(path, text) any(
  grepl(
    text, rawToChar(replace(bytes <- readBin(path, "raw", file.size(path)), bytes == 0, as.raw(1))),
    fixed = TRUE, useBytes = TRUE
  )
)

# The environment variables that name keys, for one expression.
with_environment <- function(values, code) {
  before <- Sys.getenv(names(values), names = TRUE, unset = NA)
  on.exit({
    Sys.unsetenv(names(values))
    if (!all(is.na(before))) do.call(Sys.setenv, as.list(before[!is.na(before)]))
  })
  do.call(Sys.setenv, as.list(values))
  code
}

small <- function() data.frame(
  n = 1:200, s = paste0("patient-", 1:200), f = factor(rep(c("a", "b"), 100)), x = (1:200) / 3
)

test_that("values come back, and their bytes do not show them", {
  values <- list(
    small(), many(2000), list(a = 1:3, name = "patient-7", frame = small()), c(one = 1, two = 2),
    glm(am ~ wt, binomial(), mtcars, model = FALSE)$coefficients, quote(f(patient)), "patient-1", NULL
  )
  if (requireNamespace("tibble", quietly = TRUE)) values <- c(values, list(tibble::as_tibble(small())))
  if (requireNamespace("data.table", quietly = TRUE)) values <- c(values, list(data.table::as.data.table(small())))
  for (x in values) {
    path <- sealed(x)
    expect_equal(read_entasis(path, key = key), x)
    expect_false(contains(path, "patient"))
    expect_error(read_entasis(path), "encrypted", class = "entasis_error_wrong_key")
    expect_error(read_entasis(path, key = other), "does not open", class = "entasis_error_wrong_key")
    expect_silent(verify_entasis(path, key = key))
    unlink(path)
  }
})

test_that("a key is raw bytes, an object, or a function", {
  bytes <- key_bytes_entasis(key)
  expect_type(bytes, "raw")
  expect_length(bytes, 32L)
  path <- sealed(small(), key = bytes)
  expect_identical(read_entasis(path, key = key), small())
  expect_identical(read_entasis(path, key = bytes), small())
  expect_identical(read_entasis(path, key = function() key), small())
  expect_identical(read_entasis(path, key = function() bytes), small())
  expect_error(read_entasis(path, key = function() stop("no such key in the store")), "no such key")
  expect_error(write_entasis(small(), path, key = function() NULL), "returned NULL", class = "entasis_error_argument")
  expect_identical(read_entasis(path, key = key), small())
  expect_false(identical(key_bytes_entasis(key_entasis()), key_bytes_entasis(key_entasis())))
  file <- tempfile()
  writeBin(bytes, file)
  expect_identical(key_bytes_entasis(key_entasis(file = file)), bytes)
  writeLines(paste(format(bytes), collapse = ""), file)
  expect_identical(key_bytes_entasis(key_entasis(file = file)), bytes)
  writeLines("no key", file)
  expect_error(key_entasis(file = file), "neither 32 bytes", class = "entasis_error_argument")
  unlink(c(path, file))
})

test_that("wrong arguments are refused, and no message shows a key", {
  path <- sealed(small())
  secret <- "correct-horse"
  cases <- list(
    quote(read_entasis(path, key = key, password = "correct-horse")), quote(read_entasis(path, key = raw())),
    quote(read_entasis(path, key = as.raw(1:31))), quote(read_entasis(path, key = "correct-horse")),
    quote(read_entasis(path, password = "")), quote(read_entasis(path, password = c("correct-horse", "b"))),
    quote(read_entasis(path, password = NA_character_)), quote(read_entasis(path, password = 5)),
    quote(key_entasis(1:32)),
    quote(key_entasis(as.raw(1:32), "file")), quote(add_key_entasis(path, key = key)), quote(key_bytes_entasis(5)),
    quote(add_key_entasis(path, key, "correct-horse", key = key)), quote(remove_key_entasis(path, -1, key = key))
  )
  for (case in cases) {
    found <- tryCatch(eval(case), error = identity)
    expect_s3_class(found, "entasis_error_argument")
    expect_false(
      any(grepl(secret, c(conditionMessage(found), deparse(conditionCall(found))))), label = deparse(case)[1L]
    )
  }
  found <- tryCatch(read_entasis(path, password = "correct-horse"), error = identity)
  expect_s3_class(found, "entasis_error_wrong_key")
  expect_identical(conditionCall(found), quote(read_entasis(path = path, password = ...)))
  found <- tryCatch(unlock_entasis(path, "correct-horse"), error = identity)
  expect_false(any(grepl(secret, deparse(found))))
  expect_identical(
    conditionCall(tryCatch(read_entasis(path, key = other), error = identity)),
    quote(read_entasis(path, key = other))
  )
  unlink(path)
})

test_that("a key for a plain file is refused", {
  path <- written(small())
  for (code in list(
    quote(read_entasis(path, key = key)), quote(entasis(path, key = key)),
    quote(append_entasis(small(), path, key = key)),
    quote(verify_entasis(path, key = key)), quote(decrypt_entasis(path)),
    quote(add_key_entasis(path, other, key = key)),
    quote(unlock_entasis(path, "password")), quote(compact_entasis(path, rekey = TRUE)), quote(encrypt_entasis(path))
  )) expect_error(eval(code), class = "entasis_error_argument")
  expect_identical(read_entasis(path), small())
  expect_identical(nrow(keys_entasis(path)), 0L)
  unlink(path)
})

test_that("keys show nothing, and are not saved", {
  for (text in list(
    capture.output(print(key)), capture.output(str(key)), format(key)
  )) expect_identical(text, "<entasis key>")
  expect_output(print(list(key = key)), "<entasis key>")
  file <- tempfile()
  saveRDS(key, file)
  restored <- readRDS(file)
  expect_output(print(restored), "<entasis key>")
  path <- sealed(small())
  expect_error(read_entasis(path, key = restored), "another session", class = "entasis_error_argument")
  expect_error(key_bytes_entasis(restored), "another session", class = "entasis_error_argument")
  bytes <- serialize(list(key, entasis(path, key = key)), NULL)
  expect_length(grepRaw(key_bytes_entasis(key), bytes, fixed = TRUE), 0L)
  unlink(c(path, file))
})

test_that("an open table keeps its key until it is saved", {
  path <- sealed(small())
  table <- entasis(path, key = key)
  restored <- unserialize(serialize(table, NULL))
  expect_error(restored$n, class = "entasis_error_wrong_key")
  file <- tempfile()
  writeBin(key_bytes_entasis(key), file)
  restored <- unserialize(serialize(table, NULL))
  with_environment(c(ENTASIS_KEY_FILE = file), expect_identical(restored[], small()))
  # A handle that is gone is opened again with the key.
  content <- lazy_content(table)
  close_file(content)
  expect_identical(table[], small())
  expect_identical(table$s[7], "patient-7")
  tree <- entasis(sealed(list(a = small(), b = 1:3)), key = key)
  close_file(lazy_content(tree)$file)
  expect_identical(tree$a[], small())
  expect_identical(tree$b, 1:3)
  unlink(c(path, file))
})

test_that("filters, rows and columns of an encrypted table are those of a plain one", {
  x <- many(20000)
  plain <- entasis(written(x))
  table <- entasis(sealed(x), key = key)
  expect_identical(table[], plain[])
  expect_identical(table[c(5, 19999, 7), c("b", "u")], plain[c(5, 19999, 7), c("b", "u")])
  expect_identical(subset(table, a > 150 & c == "b"), subset(plain, a > 150 & c == "b"))
  expect_identical(
    subset(table, f %in% c("x", "y") | is.na(l), c("a", "t")),
    subset(plain, f %in% c("x", "y") | is.na(l), c("a", "t"))
  )
  expect_identical(count_entasis(table, b < 0.25), count_entasis(plain, b < 0.25))
  expect_identical(tail(table), tail(plain))
  expect_identical(batches_entasis(table, nrow, 7000), batches_entasis(plain, nrow, 7000))
  skip_if_not_installed("dplyr")
  rows <- function(x) dplyr::collect(dplyr::select(dplyr::filter(x, a > 100, f == "q"), a, c))
  expect_identical(rows(table), rows(plain))
})

test_that("every change keeps a file encrypted", {
  path <- sealed(data.frame(n = 1:200000, u = runif(200000)), compress = 0)
  plain <- tempfile(fileext = ".entasis")
  decrypt_entasis(path, plain, key = key)
  both <- function(change) {
    change(path, key)
    change(plain, NULL)
    expect_identical(read_entasis(path, key = key), read_entasis(plain))
    expect_error(read_entasis(path), class = "entasis_error_wrong_key")
    expect_identical(nrow(keys_entasis(path)), 1L)
    expect_null(secret_in_force())
  }
  both(function(path, key) append_entasis(data.frame(n = 1L, u = 2), path, durable = FALSE, key = key))
  both(function(path, key) append_entasis(data.frame(n = 1.5, u = 2), path, widen = TRUE, durable = FALSE, key = key))
  both(
    function(path, key) add_columns_entasis(data.frame(s = rep("patient", 200002)), path, durable = FALSE, key = key)
  )
  both(function(path, key) replace_columns_entasis(data.frame(u = 200002:1), path, durable = FALSE, key = key))
  both(function(path, key) rename_columns_entasis(path, c(v = "u"), durable = FALSE, key = key))
  both(function(path, key) set_metadata_entasis(list(about = "patients"), path, durable = FALSE, key = key))
  expect_identical(metadata_entasis(path, key = key)$metadata, list(about = "patients"))
  both(function(path, key) drop_columns_entasis(path, "s", durable = FALSE, key = key))
  expect_identical(
    generations_entasis(path, key = key)[c("number", "operation", "rows")],
    generations_entasis(plain)[c("number", "operation", "rows")]
  )
  expect_identical(read_entasis(path, generation = 1, key = key), read_entasis(plain, generation = 1))
  both(function(path, key) rollback_entasis(path, 2, durable = FALSE, key = key))
  both(function(path, key) keep_entasis(path, 3, durable = FALSE, key = key))
  expect_false(contains(path, "patient"))
  for (code in list(
    quote(append_entasis(data.frame(n = 1L, u = 2), path)), quote(drop_columns_entasis(path, "u")),
    quote(rollback_entasis(path, 1)),
    quote(compact_entasis(path)), quote(set_metadata_entasis(1, path)), quote(generations_entasis(path)),
    quote(metadata_entasis(path)),
    quote(verify_entasis(path)), quote(repair_entasis(path, tempfile())), quote(keep_entasis(path, 3)),
    quote(entasis(path))
  )) {
    expect_error(eval(code), class = "entasis_error_wrong_key")
    expect_error(eval(`[[<-`(code, "key", quote(other))), class = "entasis_error_wrong_key")
  }
  both(function(path, key) compact_entasis(path, durable = FALSE, key = key))
  verify_entasis(path, key = key)
  out <- tempfile(fileext = ".entasis")
  repair_entasis(path, out, key = key)
  expect_identical(read_entasis(out, key = key), read_entasis(plain))
  unlink(c(path, plain, out))
})

test_that("lists are updated", {
  path <- sealed(list(a = 1, text = "patient"))
  update_entasis(list(b = 2), path, remove = "a", key = key)
  expect_identical(read_entasis(path, key = key), list(text = "patient", b = 2))
  expect_error(update_entasis(list(b = 2), path), class = "entasis_error_wrong_key")
  expect_false(contains(path, "patient"))
  # A value that is read from another encrypted file while a call with a key runs.
  second <- sealed(list(z = 5), key = other)
  update_entasis(
    list(c = read_entasis(second, key = other)$z, d = tryCatch(read_entasis(second), error = function(e) "none")),
    path, key = key
  )
  expect_identical(read_entasis(path, key = key), list(text = "patient", b = 2, c = 5, d = "none"))
  expect_null(secret_in_force())
  unlink(c(path, second))
})

test_that("a writer encrypts its batches", {
  path <- tempfile(fileext = ".entasis")
  w <- writer_entasis(path, key = key)
  for (i in 1:3) w$write(small())
  w$close()
  expect_identical(read_entasis(path, key = key), bare(rbind(small(), small(), small())))
  w <- writer_entasis(path, append = TRUE, durable = FALSE, key = key)
  w$write(small())
  w$close()
  expect_identical(nrow(read_entasis(path, key = key)), 800L)
  expect_error(writer_entasis(path, append = TRUE), class = "entasis_error_wrong_key")
  expect_false(contains(path, "patient"))
  fresh <- tempfile(fileext = ".entasis")
  append_entasis(small(), fresh, create = TRUE, key = key)
  expect_identical(read_entasis(fresh, key = key), small())
  unlink(c(path, fresh))
})

test_that("values of encrypted files go into plain ones only by key = FALSE", {
  path <- sealed(small())
  root <- tempfile("folder")
  write_dataset_entasis(small(), root, rows_per_file = 50, key = key)
  new <- tempfile(fileext = ".entasis")
  by_writer <- function(x, path, ...) {
    w <- writer_entasis(path, ...)
    on.exit(w$abort())
    w$write(x)
    w$close()
  }
  creates <- function(x, path, ...) append_entasis(x, path, create = TRUE, ...)
  values <- list(entasis(path, key = key), entasis(root, key = key), entasis(sealed(list(a = small())), key = key)$a)
  if (requireNamespace("dplyr", quietly = TRUE)) {
    values <- c(values, list(dplyr::filter(entasis(path, key = key), n > 150)))
  }
  for (x in values) {
    for (write in list(write_entasis, creates, by_writer, write_dataset_entasis)) {
      expect_error(write(x, new), "key = FALSE", class = "entasis_error_argument")
      expect_false(file.exists(new))
      write(x, new, key = FALSE)
      expect_identical(bare(read_entasis(new)), bare(x[]))
      unlink(new, recursive = TRUE)
      write(x, new, key = other)
      expect_error(read_entasis(new), class = "entasis_error_wrong_key")
      expect_identical(bare(read_entasis(new, key = other)), bare(x[]))
      unlink(new, recursive = TRUE)
    }
  }
  expect_error(write_entasis(entasis(sealed(list(a = 1, b = "c")), key = key), new), "key = FALSE")
  expect_error(write_entasis(small(), new, key = FALSE, password = "correct-horse"), "both given")
  expect_error(append_entasis(small(), path, create = TRUE, key = FALSE), "is for new files")
  # The environment opens a file too, and a table that was saved knows where it is from.
  file <- tempfile()
  writeBin(key_bytes_entasis(key), file)
  restored <- unserialize(serialize(values[[1L]], NULL))
  with_environment(c(ENTASIS_KEY_FILE = file), {
    expect_error(write_entasis(entasis(path), new), "key = FALSE")
    expect_error(write_entasis(restored, new), "key = FALSE")
  })
  # Values in memory are plain, and a folder may become plain, or encrypted.
  write_entasis(read_entasis(path, key = key), new)
  expect_identical(read_entasis(new), small())
  write_dataset_entasis(small(), root, mode = "overwrite", key = FALSE)
  expect_identical(nrow(read_entasis(root)), 200L)
  write_dataset_entasis(small(), root, mode = "overwrite", key = other)
  write_dataset_entasis(small(), root, mode = "append", key = other)
  expect_identical(nrow(read_entasis(root, key = other)), 400L)
  expect_error(write_dataset_entasis(small(), root), class = "entasis_error_exists")
  unlink(c(path, new, file))
  unlink(root, recursive = TRUE)
})

test_that("a saved writer has no key", {
  bytes <- as.raw(100:131)
  path <- tempfile(fileext = ".entasis")
  for (w in list(writer_entasis(path, key = bytes), writer_entasis(path, password = "correct-horse"))) {
    saved <- serialize(w, NULL)
    for (secret in list(bytes, "correct-horse")) expect_length(grepRaw(secret, saved, fixed = TRUE), 0L)
    w$abort()
  }
})

test_that("Python and R read each other's encrypted files", {
  if (Sys.getenv("ENTASIS_PYTHON") == "") skip("needs ENTASIS_PYTHON")
  file <- tempfile()
  writeBin(key_bytes_entasis(key), file)
  path <- sealed(small())
  root <- tempfile("folder")
  write_dataset_entasis(small(), root, partition_by = "f", key = key)
  with_password <- sealed(small(), key = NULL, password = "correct-horse")
  new <- tempfile(fileext = ".entasis")
  folder <- tempfile("folder")
  python(c(
    sprintf("key = en.Key.from_file(r'%s')", file),
    sprintf("frame = en.read(r'%s', to='pandas', key=key)", path),
    sprintf("assert frame.equals(en.read(r'%s', to='pandas', password='correct-horse'))", with_password),
    "assert frame['s'].tolist() == [f'patient-{i}' for i in range(1, 201)]",
    sprintf("assert en.scan(r'%s', key=key).filter(en.col('f') == 'a').count() == 100", root),
    sprintf("en.add_key(r'%s', new_password='correct-horse', key=key)", path),
    "frame = frame[['n', 's', 'x']]",
    sprintf("en.write(frame, r'%s', password='correct-horse')", new),
    sprintf("en.write_dataset(frame, r'%s', rows_per_file=150, key=key)", folder)
  ))
  expect_identical(read_entasis(path, password = "correct-horse"), small())
  expect_identical(read_entasis(new, password = "correct-horse")$s, small()$s)
  expect_identical(read_entasis(folder, key = key)$x, small()$x)
  expect_identical(count_entasis(entasis(folder, key = key), n > 150), 50L)
  unlink(c(path, with_password, new, file))
  unlink(c(root, folder), recursive = TRUE)
})

test_that("a folder is encrypted, with its manifest", {
  root <- tempfile("folder")
  x <- small()
  write_dataset_entasis(x, root, partition_by = "f", key = key)
  for (file in list.files(root, recursive = TRUE, full.names = TRUE)) {
    expect_false(contains(file, "patient"))
    expect_gt(nrow(keys_entasis(file)), 0L)
  }
  # Names of folders would show the values of keys.
  write_dataset_entasis(bare(x[1:3, ]), root, partition_by = "s", mode = "overwrite", key = key)
  expect_false(any(grepl("patient", list.files(root, recursive = TRUE, include.dirs = TRUE))))
  expect_setequal(read_entasis(root, key = key)$s, x$s[1:3])
  expect_identical(subset(entasis(root, key = key), s == "patient-2")$n, 2L)
  write_dataset_entasis(x, root, partition_by = "f", mode = "overwrite", key = key)
  sorted <- function(x) bare(x[order(x$n), c("n", "s", "x")])
  expect_identical(sorted(read_entasis(root, key = key)), x[c("n", "s", "x")])
  expect_error(read_entasis(root), class = "entasis_error_wrong_key")
  expect_error(write_dataset_entasis(x, root, mode = "append"), class = "entasis_error_wrong_key")
  write_dataset_entasis(x, root, mode = "append", key = key)
  expect_identical(nrow(read_entasis(root, key = key)), 400L)
  expect_gt(verify_entasis(root, key = key), 0)
  expect_error(verify_entasis(root), class = "entasis_error_wrong_key")
  compact_entasis(root, key = key)
  expect_identical(nrow(read_entasis(root, key = key)), 400L)
  expect_identical(count_entasis(entasis(root, key = key), n > 150), 100L)
  # The key of the environment encrypts further files too.
  file <- tempfile()
  writeBin(key_bytes_entasis(key), file)
  with_environment(c(ENTASIS_KEY_FILE = file), {
    write_dataset_entasis(x, root, mode = "append")
    expect_identical(nrow(read_entasis(root)), 600L)
  })
  expect_identical(nrow(read_entasis(root, key = key)), 600L)
  for (file in list.files(root, recursive = TRUE, full.names = TRUE)) expect_false(contains(file, "patient"))
  write_dataset_entasis(x, root, mode = "overwrite", key = key)
  expect_identical(read_entasis(root, key = key)$n, x$n)
  unlink(root, recursive = TRUE)
})

test_that("rows of an encrypted folder without files are encrypted", {
  root <- tempfile("folder")
  file <- tempfile()
  writeBin(key_bytes_entasis(key), file)
  write_dataset_entasis(small()[0, ], root, partition_by = "f", key = key)
  with_environment(
    c(ENTASIS_KEY_FILE = file), write_dataset_entasis(small(), root, partition_by = "f", mode = "append")
  )
  for (path in list.files(root, recursive = TRUE, full.names = TRUE)) {
    expect_gt(nrow(keys_entasis(path)), 0L)
    expect_false(contains(path, "patient"))
  }
  expect_identical(nrow(read_entasis(root, key = key)), 200L)
  unlink(c(root, file), recursive = TRUE)
})

test_that("files of a folder that are joined by value stay encrypted", {
  root <- tempfile("folder")
  dir.create(root)
  write_entasis(data.frame(v = 1:3, s = "patient"), file.path(root, "a.entasis"), key = key)
  write_entasis(data.frame(v = c(1.5, 2), s = "patient"), file.path(root, "b.entasis"), key = key)
  expect_identical(read_entasis(root, key = key)$v, c(1, 2, 3, 1.5, 2))
  unlink(root, recursive = TRUE)
})

test_that("passwords open files, and are derived once for a folder", {
  path <- tempfile(fileext = ".entasis")
  write_entasis(small(), path, password = "gr\u00fcn \u00e4 horse")
  expect_identical(read_entasis(path, password = "gr\u00fcn \u00e4 horse"), small())
  expect_identical(read_entasis(path, password = iconv("gr\u00fcn \u00e4 horse", "UTF-8", "latin1")), small())
  expect_error(read_entasis(path, password = "green"), "password does not open", class = "entasis_error_wrong_key")
  expect_error(read_entasis(path, key = key), class = "entasis_error_wrong_key")
  append_entasis(small(), path, durable = FALSE, password = "gr\u00fcn \u00e4 horse")
  unlocked <- unlock_entasis(path, "gr\u00fcn \u00e4 horse")
  expect_s3_class(unlocked, "entasis_key")
  expect_identical(nrow(read_entasis(path, key = unlocked)), 400L)
  expect_identical(keys_entasis(path), data.frame(number = 0L, kind = "password"))
  root <- tempfile("folder")
  write_dataset_entasis(small(), root, partition_by = "f", password = "horse")
  write_dataset_entasis(small(), root, mode = "append", password = "horse")
  expect_identical(nrow(read_entasis(root, password = "horse")), 400L)
  with_environment(c(ENTASIS_PASSWORD = "horse"), expect_identical(nrow(entasis(root)), 400L))
  unlink(c(path, root), recursive = TRUE)
})

test_that("files are encrypted, decrypted, and get other keys", {
  path <- written(data.frame(n = 1:150000, s = "patient"), compress = 0)
  append_entasis(data.frame(n = 0L, s = "patient"), path, durable = FALSE)
  expect_true(contains(path, "patient"))
  x <- read_entasis(path)
  out <- tempfile(fileext = ".entasis")
  expect_identical(expect_invisible(encrypt_entasis(path, out, key = key)), out)
  expect_error(encrypt_entasis(path, out, key = key, overwrite = FALSE), class = "entasis_error_exists")
  expect_identical(read_entasis(path), x)
  expect_identical(encrypt_entasis(path, key = key), path)
  expect_error(encrypt_entasis(path, key = key), "already", class = "entasis_error_argument")
  expect_false(contains(path, "patient"))
  expect_identical(read_entasis(path, key = key), x)
  expect_identical(generations_entasis(path, key = key)$operation, c("write", "append"))
  expect_identical(keys_entasis(path), data.frame(number = 0L, kind = "key"))
  add_key_entasis(path, other, key = key)
  add_key_entasis(path, new_password = "horse", key = other)
  expect_error(add_key_entasis(path, other, key = key), "already", class = "entasis_error_argument")
  expect_identical(keys_entasis(path), data.frame(number = 0:2, kind = c("key", "key", "password")))
  expect_identical(read_entasis(path, key = other), x)
  expect_identical(read_entasis(path, password = "horse"), x)
  remove_key_entasis(path, key = key)
  expect_error(read_entasis(path, key = key), class = "entasis_error_wrong_key")
  expect_error(remove_key_entasis(path, 7, key = other), "no key 7", class = "entasis_error_argument")
  remove_key_entasis(path, 1, key = other)
  expect_error(remove_key_entasis(path, key = other), "last key", class = "entasis_error_argument")
  compact_entasis(path, rekey = TRUE, key = other)
  expect_identical(read_entasis(path, key = other), x)
  decrypt_entasis(path, key = other)
  expect_identical(read_entasis(path), x)
  expect_true(contains(path, "patient"))
  unlink(c(path, out))
})

test_that("changed bytes are found", {
  path <- sealed(small())
  bytes <- readBin(path, "raw", file.size(path))
  bytes[length(bytes) - 4000L] <- xor(bytes[length(bytes) - 4000L], as.raw(1))
  writeBin(bytes, path)
  expect_error(verify_entasis(path, key = key), class = "entasis_error_corrupt")
  # A checksum that fits the other bytes does not pass for them.
  chunk <- length(bytes) - 8192L + 1:8184
  hash <- hash_entasis(bytes[chunk])
  bytes[max(chunk) + 1:8] <- as.raw(strtoi(substring(hash, seq(15, 1, -2), seq(16, 2, -2)), 16L))
  writeBin(bytes, path)
  expect_error(verify_entasis(path, key = key), class = "entasis_error_tampered")
  expect_error(read_entasis(path, key = key), class = "entasis_error_tampered")
  unlink(path)
})

test_that("the environment names a key", {
  path <- sealed(small())
  file <- tempfile()
  writeBin(key_bytes_entasis(key), file)
  with_environment(c(ENTASIS_KEY_FILE = file), {
    expect_identical(read_entasis(path), small())
    append_entasis(small(), path, durable = FALSE)
    expect_identical(nrow(entasis(path)), 400L)
    expect_identical(count_entasis(path), 400L)
  })
  expect_error(read_entasis(path), class = "entasis_error_wrong_key")
  writeBin(key_bytes_entasis(other), file)
  with_environment(c(ENTASIS_KEY_FILE = file), {
    expect_error(read_entasis(path), class = "entasis_error_wrong_key")
    expect_identical(nrow(read_entasis(path, key = key)), 400L)
  })
  unlink(c(path, file))
})

test_that("encrypted files are converted, and read from functions", {
  csv <- tempfile(fileext = ".csv")
  write.csv(data.frame(n = 1:3, s = "patient"), csv, row.names = FALSE)
  path <- tempfile(fileext = ".entasis")
  convert_entasis(csv, path, key = key)
  expect_false(contains(path, "patient"))
  expect_identical(read_entasis(path, key = key)$n, 1:3)
  rds <- tempfile(fileext = ".rds")
  convert_entasis(path, rds, key = key)
  expect_identical(readRDS(rds), read_entasis(path, key = key))
  convert_entasis(path, csv, key = key)
  expect_identical(read.csv(csv)$n, 1:3)
  convert_entasis(rds, path, key = other)
  expect_identical(read_entasis(path, key = other)$n, 1:3)
  expect_error(convert_entasis(path, csv), class = "entasis_error_wrong_key")
  bytes <- readBin(path, "raw", file.size(path))
  table <- entasis(source = function(offset, length) bytes[offset + seq_len(length)], size = length(bytes), key = other)
  expect_identical(table[], readRDS(rds))
  unlink(c(csv, path, rds))
})
