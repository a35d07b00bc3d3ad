/* Strings of R, for the half of Rust that writes them. */
#include "values.h"

_Static_assert(CE_NATIVE == 0 && CE_UTF8 == 1 && CE_LATIN1 == 2 && CE_BYTES == 3, "strings.rs has these numbers");

/* The mark of strings that were converted to UTF-8, which no encoding of R has. */
#define CONVERTED 4

/* Describes a string. Text that was converted to UTF-8 is in memory of R_alloc. */
void ent_string_of(SEXP string, ent_string *out) {
    out->address = (uintptr_t)string;
    out->bytes = CHAR(string);
    out->len = (size_t)LENGTH(string);
    out->mark = (int)Rf_getCharCE(string);
    ent_chars converted;
    if (out->mark == CE_NATIVE && ent_convert_native(string, &converted)) {
        out->bytes = converted.start;
        out->len = converted.len;
        out->mark = CONVERTED;
    }
}

/* Strings per call, and the distance of prefetches: strings are anywhere in memory. */
#define BATCH 128
#define AHEAD 16

/* Adds the strings of a character vector from `i` to before `n`. Returns 0 with a failure. */
int ent_collect(ent_strings *collected, SEXP x, R_xlen_t i, R_xlen_t n, ent_failure **failure) {
    /* This creates all strings of a lazy vector. Their addresses must stay valid. */
    const SEXP *strings = STRING_PTR_RO(x);
    ent_string batch[BATCH];
    R_xlen_t seen = i + (1 << 20);
    while (i < n) {
        if (i >= seen) {
            R_CheckUserInterrupt();
            seen = i + (1 << 20);
        }
        R_xlen_t most = seen < n ? seen - i : n - i;
        ptrdiff_t again = ent_strings_add_recent(collected, (const uintptr_t *)(strings + i), (size_t)most,
                                                 (uintptr_t)NA_STRING, failure);
        if (again < 0) return 0;
        i += again;
        R_xlen_t now = most - again < BATCH ? most - again : BATCH;
        const void *top = vmaxget();
        for (R_xlen_t k = 0; k < now; k++) {
#ifdef __GNUC__
            if (i + k + AHEAD < n) __builtin_prefetch(strings[i + k + AHEAD]);
#endif
            ent_string_of(strings[i + k], &batch[k]);
        }
        if (now > 0 && ent_strings_add(collected, batch, (size_t)now, (uintptr_t)NA_STRING, failure) < 0) return 0;
        vmaxset(top);
        i += now;
    }
    return 1;
}
