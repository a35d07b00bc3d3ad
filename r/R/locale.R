# Encodings of strings, and the locale of the session for strings without a mark. src/locale.c
# converts these to UTF-8 when they are written.

# Whether such strings have a known encoding other than UTF-8.
locale_is_other <- function() !l10n_info()[["UTF-8"]] && !Sys.getlocale("LC_CTYPE") %in% c("C", "POSIX")

# Reports the answer to C code, because the locale may change within a session.
note_locale <- function() .Call(C_note_locale, locale_is_other())

# Strings in UTF-8 as far as their encoding is known.
as_utf8 <- function(x) if (locale_is_other()) enc2utf8(x) else x

is_ascii <- function(x) !grepl("[^ -~\t\r\n]", x, useBytes = TRUE)
