/* Files whose bytes a function of R gives. */
#include "values.h"

static int failed(const char *said, char *message, size_t room) {
    snprintf(message, room, "%s", said);
    UNPROTECT(4);
    return 1;
}

/* Calls a function with an offset and a length. It returns bytes, or why it failed. */
static int fetch(void *context, double at, double len, unsigned char *out, char *message, size_t room) {
    SEXP start = PROTECT(Rf_ScalarReal(at)), n = PROTECT(Rf_ScalarReal(len));
    SEXP call = PROTECT(Rf_lang3((SEXP)context, start, n));
    int is_error = 0;
    SEXP found = PROTECT(R_tryEvalSilent(call, R_GlobalEnv, &is_error));
    if (is_error) return failed("the function was interrupted", message, room);
    if (TYPEOF(found) == STRSXP && Rf_xlength(found) == 1) {
        return failed(CHAR(STRING_ELT(found, 0)), message, room);
    }
    if (TYPEOF(found) != RAWSXP || (double)Rf_xlength(found) != len) {
        return failed("the function did not return the bytes", message, room);
    }
    memcpy(out, RAW(found), (size_t)Rf_xlength(found));
    UNPROTECT(4);
    return 0;
}

static void release(void *context) { R_ReleaseObject((SEXP)context); }

static ent_chars bytes_of(SEXP raw) {
    ent_chars bytes = {(const char *)RAW(raw), (size_t)Rf_xlength(raw)};
    return bytes;
}

/* A file of `size` bytes, with those at its beginning and end, and a function for the others. */
SEXP ent_c_open_source(SEXP name, SEXP size, SEXP head, SEXP tail, SEXP function, SEXP limits) {
    ent_failure *failure = NULL;
    const ent_limit *of_file = ent_limits_of(limits);
    R_PreserveObject(function);
    ent_file *file = ent_open_source(ent_chars_of(STRING_ELT(name, 0)), Rf_asReal(size), bytes_of(head), bytes_of(tail),
                                     function, fetch, release, of_file, (size_t)Rf_xlength(limits), &failure);
    return file == NULL ? ent_failed(failure) : ent_hold(file, ent_free_file, R_NilValue);
}
