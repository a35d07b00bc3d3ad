/* Character vectors that create R's strings on first access.
 *
 * data1 holds the strings of Rust until all were created. data2 is the vector of created strings,
 * or NULL before the first access. An empty element of data2 is either not created yet or the empty
 * string. All strings are in memory, so the file may go away. The tag of data1 counts single
 * accesses: after many of them all strings are created at once, which costs less per string.
 */
#include "values.h"

#include <R_ext/Altrep.h>

/* Slots of the cache of recent strings, by view. Equal views are equal strings. A power of two. */
#define RECENT 4096
/* Lookups in the cache between checks of its hit rate. Below one hit in sixteen it rests for a
 * while. */
#define LOOKS 1024
#define RESTS (16 * LOOKS)

static R_altrep_class_t lazy_class;

static void free_text(SEXP pointer) {
    ent_text *text = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (text != NULL) ent_text_free(text);
}

static int is_missing(const unsigned char *validity, size_t i) {
    return validity != NULL && !(validity[i / 8] >> (i % 8) & 1);
}

static SEXP make(const ent_text *text, const unsigned char *validity, size_t i, cetype_t mark) {
    if (is_missing(validity, i)) return NA_STRING;
    size_t len = 0;
    const char *bytes = ent_text_get(text, i, &len);
    if (bytes == NULL) Rf_error("a string is not there");
    return len == 0 ? R_BlankString : Rf_mkCharLenCE(bytes, (int)len, mark);
}

/* A cache of recent strings by view. `keeper` protects the strings. If NULL, the vector under
 * construction protects them: storing into `keeper` costs as much as a lookup. */
typedef struct {
    SEXP keeper; /* may be NULL */
    SEXP *strings;
    uint64_t (*views)[2];
    unsigned looks, hits; /* since the last check */
    unsigned rests;       /* strings until the next lookup */
} recent_t;

static recent_t recent_of(SEXP both) {
    SEXP keeper = VECTOR_ELT(both, 0);
    recent_t recent = {keeper, (SEXP *)STRING_PTR_RO(keeper), (uint64_t (*)[2])RAW(VECTOR_ELT(both, 1)), 0, 0, 0};
    return recent;
}

static SEXP new_recent(void) {
    SEXP both = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(both, 0, Rf_allocVector(STRSXP, RECENT));
    SET_VECTOR_ELT(both, 1, Rf_allocVector(RAWSXP, RECENT * 16));
    /* Only the view of the empty string is zero. */
    memset(RAW(VECTOR_ELT(both, 1)), 0, RECENT * 16);
    UNPROTECT(1);
    return both;
}

/* The string at a position, which is not missing: from the cache, or a new one. */
static SEXP make_once(const ent_text *text, const uint64_t *views, size_t i, recent_t *recent) {
    if (recent->rests > 0) {
        recent->rests--;
        return make(text, NULL, i, CE_UTF8);
    }
    if (recent->looks++ == LOOKS) {
        if (recent->hits < LOOKS / 16) recent->rests = RESTS;
        recent->looks = recent->hits = 0;
    }
    uint64_t low = views[2 * i], high = views[2 * i + 1];
    uint64_t mix = (low ^ (high << 17 | high >> 47)) * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = (size_t)(mix >> 52) % RECENT;
    if (recent->views[slot][0] == low && recent->views[slot][1] == high) {
        recent->hits++;
        return recent->strings[slot];
    }
    SEXP string = make(text, NULL, i, CE_UTF8);
    if (recent->keeper != NULL) SET_STRING_ELT(recent->keeper, (R_xlen_t)slot, string);
    else recent->strings[slot] = string;
    recent->views[slot][0] = low;
    recent->views[slot][1] = high;
    return string;
}

/* Creates all strings that `out` lacks. */
static void make_all(const ent_text *text, SEXP out) {
    const void *top = vmaxget();
    recent_t recent = {NULL, (SEXP *)R_alloc(RECENT, sizeof(SEXP)), (uint64_t (*)[2])R_alloc(RECENT, 16), 0, 0, 0};
    for (size_t k = 0; k < RECENT; k++) recent.strings[k] = R_BlankString;
    memset(recent.views, 0, RECENT * 16);
    const uint64_t *views = ent_text_views(text);
    const unsigned char *validity = ent_text_validity(text);
    const SEXP *made = STRING_PTR_RO(out);
    size_t n = ent_text_n(text);
    for (size_t i = 0; i < n; i++) {
        if (made[i] != R_BlankString) continue;
        SET_STRING_ELT(out, (R_xlen_t)i, is_missing(validity, i) ? NA_STRING : make_once(text, views, i, &recent));
    }
    vmaxset(top);
}

static SEXP expanded(SEXP x) {
    SEXP out = R_altrep_data2(x);
    if (out == R_NilValue) {
        ent_text *text = ent_pointer_of(R_altrep_data1(x), "a character vector");
        out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)ent_text_n(text)));
        R_set_altrep_data2(x, out);
        UNPROTECT(1);
    }
    return out;
}

static SEXP materialise(SEXP x) {
    SEXP out = PROTECT(expanded(x));
    if (R_ExternalPtrAddr(R_altrep_data1(x)) != NULL) {
        make_all(R_ExternalPtrAddr(R_altrep_data1(x)), out);
        free_text(R_altrep_data1(x));
    }
    UNPROTECT(1);
    return out;
}

static R_xlen_t lazy_length(SEXP x) {
    ent_text *text = R_ExternalPtrAddr(R_altrep_data1(x));
    return text == NULL ? Rf_xlength(R_altrep_data2(x)) : (R_xlen_t)ent_text_n(text);
}

static SEXP lazy_elt(SEXP x, R_xlen_t i) {
    SEXP out = R_altrep_data2(x);
    /* Fast path: after materialisation nearly every element is already there. */
    SEXP known = out == R_NilValue ? R_BlankString : STRING_ELT(out, i);
    if (known != R_BlankString) return known;
    SEXP pointer = R_altrep_data1(x);
    ent_text *text = R_ExternalPtrAddr(pointer);
    if (text == NULL) return known;
    if (++*REAL(R_ExternalPtrTag(pointer)) > (double)ent_text_n(text) / 64 + 4096) return STRING_ELT(materialise(x), i);
    PROTECT(out = expanded(x));
    SEXP string = make(text, ent_text_validity(text), (size_t)i, CE_UTF8);
    SET_STRING_ELT(out, i, string);
    UNPROTECT(1);
    return string;
}

static void lazy_set_elt(SEXP x, R_xlen_t i, SEXP value) { SET_STRING_ELT(materialise(x), i, value); }

static void *lazy_dataptr(SEXP x, Rboolean writable) {
    (void)writable;
    return (void *)STRING_PTR_RO(materialise(x));
}

static const void *lazy_dataptr_or_null(SEXP x) {
    if (R_ExternalPtrAddr(R_altrep_data1(x)) != NULL) return NULL;
    return STRING_PTR_RO(R_altrep_data2(x));
}

/* Extracts some elements without creating the others; NULL leaves the work to R. */
static SEXP lazy_extract(SEXP x, SEXP indices, SEXP call) {
    (void)call;
    ent_text *text = R_ExternalPtrAddr(R_altrep_data1(x));
    if (text == NULL || R_altrep_data2(x) != R_NilValue) return NULL;
    if (TYPEOF(indices) != INTSXP && TYPEOF(indices) != REALSXP) return NULL;
    R_xlen_t n = Rf_xlength(indices), length = (R_xlen_t)ent_text_n(text);
    if (n > length / 4) return NULL;
    const unsigned char *validity = ent_text_validity(text);
    SEXP out = PROTECT(Rf_allocVector(STRSXP, n));
    for (R_xlen_t k = 0; k < n; k++) {
        double index;
        if (TYPEOF(indices) == INTSXP) {
            int i = INTEGER_ELT(indices, k);
            index = i == NA_INTEGER ? NA_REAL : i;
        } else {
            index = REAL_ELT(indices, k);
        }
        if (index >= 1 && index < (double)length + 1) {
            SET_STRING_ELT(out, k, make(text, validity, (size_t)index - 1, CE_UTF8));
        } else {
            SET_STRING_ELT(out, k, NA_STRING);
        }
    }
    UNPROTECT(1);
    return out;
}

/* The strings of a lazy vector, for making vectors of its parts with a common cache of recent
 * strings. */
typedef struct {
    const uint64_t *views;
    const ent_text *text;
    const unsigned char *validity;
    recent_t recent;
} parts_t;

static int begin_parts(SEXP x, parts_t *parts) {
    if (!ALTREP(x) || !R_altrep_inherits(x, lazy_class)) return 0;
    SEXP pointer = R_altrep_data1(x);
    parts->text = R_ExternalPtrAddr(pointer);
    if (parts->text == NULL) return 0;
    if (R_ExternalPtrProtected(pointer) == R_NilValue) R_SetExternalPtrProtected(pointer, new_recent());
    parts->recent = recent_of(R_ExternalPtrProtected(pointer));
    parts->views = ent_text_views(parts->text);
    parts->validity = ent_text_validity(parts->text);
    return 1;
}

static SEXP part(parts_t *parts, size_t at, size_t n) {
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
    for (size_t k = 0; k < n; k++) {
        int missing = is_missing(parts->validity, at + k);
        SET_STRING_ELT(out, (R_xlen_t)k,
                       missing ? NA_STRING : make_once(parts->text, parts->views, at + k, &parts->recent));
    }
    UNPROTECT(1);
    return out;
}

/* Neighbouring strings of a lazy vector, as a vector of their own; NULL for other vectors. */
SEXP ent_lazy_slice(SEXP x, R_xlen_t at, R_xlen_t n) {
    parts_t parts;
    if (!begin_parts(x, &parts) || at + n > (R_xlen_t)ent_text_n(parts.text)) return NULL;
    return part(&parts, (size_t)at, (size_t)n);
}

/* Stores the ranges `from` to `n` of a lazy vector in a list, from item `to` on. Returns 0 for
 * other vectors. */
int ent_lazy_slices(SEXP x, SEXP items, R_xlen_t to, const ent_span *spans, size_t from, size_t n) {
    parts_t parts;
    if (!begin_parts(x, &parts)) return 0;
    uint64_t length = ent_text_n(parts.text);
    for (size_t k = from; k < n; k++) {
        if (spans[k].len > length || spans[k].at > length - spans[k].len)
            ent_nonsense("strings beyond the end of a pool");
        SET_VECTOR_ELT(items, to + (R_xlen_t)k, part(&parts, spans[k].at, spans[k].len));
    }
    return 1;
}

static int lazy_no_na(SEXP x) {
    ent_text *text = R_ExternalPtrAddr(R_altrep_data1(x));
    return text != NULL && ent_text_validity(text) == NULL;
}

static Rboolean lazy_inspect(SEXP x, int pre, int deep, int pvec, void (*subtree)(SEXP, int, int, int)) {
    (void)pre, (void)deep, (void)pvec, (void)subtree;
    Rprintf("entasis strings (%s)\n",
            R_ExternalPtrAddr(R_altrep_data1(x)) == NULL ? "all made" : "made when looked at");
    return TRUE;
}

void ent_init_altstring(DllInfo *dll) {
    lazy_class = R_make_altstring_class("entasis_strings", "entasis", dll);
    R_set_altrep_Length_method(lazy_class, lazy_length);
    R_set_altrep_Inspect_method(lazy_class, lazy_inspect);
    R_set_altvec_Dataptr_method(lazy_class, lazy_dataptr);
    R_set_altvec_Dataptr_or_null_method(lazy_class, lazy_dataptr_or_null);
    R_set_altvec_Extract_subset_method(lazy_class, lazy_extract);
    R_set_altstring_Elt_method(lazy_class, lazy_elt);
    R_set_altstring_Set_elt_method(lazy_class, lazy_set_elt);
    R_set_altstring_No_NA_method(lazy_class, lazy_no_na);
}

/* A lazy vector, which owns the strings. */
SEXP ent_lazy_strings(ent_text *text) {
    SEXP pointer = PROTECT(ent_hold(text, free_text, R_NilValue));
    R_SetExternalPtrTag(pointer, Rf_ScalarReal(0));
    SEXP x = R_new_altrep(lazy_class, pointer, R_NilValue);
    UNPROTECT(1);
    return x;
}

/* A string whose bytes were stored as the Unicode characters with the same numbers. */
static SEXP make_bytes(const char *text, size_t len, cetype_t mark) {
    char *bytes = R_alloc(len + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x80) {
            if ((c & 0xFC) != 0xC0 || i + 1 == len) return NULL;
            c = (unsigned char)(c << 6 | ((unsigned char)text[++i] & 0x3F));
        }
        if (c == 0) return NULL;
        bytes[n++] = (char)c;
    }
    return Rf_mkCharLenCE(bytes, (int)n, mark);
}

/* Restores the encodings of strings from their codes (strings.rs). Returns 0 for invalid codes or
 * bytes. */
int ent_mark_strings(SEXP strings, const unsigned char *encodings) {
    static const cetype_t marks[] = {CE_UTF8, CE_LATIN1, CE_BYTES, CE_NATIVE, CE_NATIVE, CE_UTF8};
    /* UTF-8 without a mark has another meaning in a locale with another encoding. */
    cetype_t unmarked = ent_locale_is_other() ? CE_UTF8 : CE_NATIVE;
    for (R_xlen_t i = 0, n = Rf_xlength(strings); i < n; i++) {
        SEXP string = STRING_ELT(strings, i);
        if (encodings[i] > 5) return 0;
        if (string == NA_STRING || encodings[i] == 0) continue;
        const void *top = vmaxget();
        SEXP marked = encodings[i] == 3 ? Rf_mkCharLenCE(CHAR(string), LENGTH(string), unmarked)
                                        : make_bytes(CHAR(string), (size_t)LENGTH(string), marks[encodings[i]]);
        vmaxset(top);
        if (marked == NULL) return 0;
        SET_STRING_ELT(strings, i, marked);
    }
    return 1;
}

/* A vector with all strings, in these encodings, where NULL means UTF-8. Returns NULL for
 * invalid encodings. */
SEXP ent_eager_strings(ent_text *text, const unsigned char *encodings) {
    size_t n = ent_text_n(text);
    SEXP pointer = PROTECT(ent_hold(text, free_text, R_NilValue));
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
    make_all(text, out);
    free_text(pointer);
    if (encodings != NULL && !ent_mark_strings(out, encodings)) out = NULL;
    UNPROTECT(2);
    return out;
}

/* A list of raw vectors; NULL for missing ones. */
SEXP ent_raw_list(ent_text *text) {
    size_t n = ent_text_n(text);
    SEXP pointer = PROTECT(ent_hold(text, free_text, R_NilValue));
    SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n));
    const unsigned char *validity = ent_text_validity(text);
    for (size_t i = 0; i < n; i++) {
        if (is_missing(validity, i)) continue;
        size_t len = 0;
        const char *bytes = ent_text_get(text, i, &len);
        if (bytes == NULL) Rf_error("bytes are not there");
        SEXP raw = Rf_allocVector(RAWSXP, (R_xlen_t)len);
        SET_VECTOR_ELT(out, (R_xlen_t)i, raw);
        if (len > 0) memcpy(RAW(raw), bytes, len);
    }
    free_text(pointer);
    UNPROTECT(2);
    return out;
}

/* For tests: whether all strings of a lazy vector were created. NA for other vectors. */
SEXP ent_c_materialised(SEXP x) {
    if (!ALTREP(x) || !R_altrep_inherits(x, lazy_class)) return Rf_ScalarLogical(NA_LOGICAL);
    return Rf_ScalarLogical(R_ExternalPtrAddr(R_altrep_data1(x)) == NULL);
}
