/* Strings without a mark, which are in the encoding of the session's locale. They are stored as
 * UTF-8, because another session may have another locale.
 */
#include "values.h"

#include <R_ext/Riconv.h>

/* Whether that encoding is known, and not UTF-8. */
static int is_other = 0;

SEXP ent_c_note_locale(SEXP other) {
    is_other = Rf_asLogical(other) == TRUE;
    return R_NilValue;
}

int ent_locale_is_other(void) { return is_other; }

static int is_ascii(SEXP string) {
    const char *bytes = CHAR(string);
    for (int i = 0, n = LENGTH(string); i < n; i++) {
        if ((unsigned char)bytes[i] >= 0x80) return 0;
    }
    return 1;
}

/* Converts a string of the locale to UTF-8, in memory of R_alloc. Returns 0 for other strings, and
 * for bytes that the encoding lacks. */
int ent_convert_native(SEXP string, ent_chars *out) {
    if (!is_other || string == NA_STRING || Rf_getCharCE(string) != CE_NATIVE || is_ascii(string)) return 0;
    void *converter = Riconv_open("UTF-8", "");
    if (converter == (void *)-1) return 0;
    const char *from = CHAR(string);
    size_t len = (size_t)LENGTH(string), room = 4 * len, left = room;
    char *to = R_alloc(room, 1), *end = to;
    size_t done = Riconv(converter, &from, &len, &end, &left);
    Riconv_close(converter);
    if (done == (size_t)-1 || len > 0) return 0;
    *out = (ent_chars){to, room - left};
    return 1;
}
