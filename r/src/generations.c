/* The generations of a file. */
#include "values.h"

static void free_generations(SEXP pointer) {
    ent_generations *generations = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (generations != NULL) ent_generations_free(generations);
}

/* The generations as a list of vectors, from the oldest on. */
SEXP ent_c_generations(SEXP file) {
    static const char *names[] = {"number", "time", "operation", "rows", "bytes", ""};
    ent_failure *failure = NULL;
    ent_generations *generations = ent_generations_of(ent_pointer_of(file, "an open file"), &failure);
    if (generations == NULL) return ent_failed(failure);
    SEXP pointer = PROTECT(ent_hold(generations, free_generations, R_NilValue));
    R_xlen_t n = (R_xlen_t)ent_generations_n(generations);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    for (int k = 0; k < 5; k++) SET_VECTOR_ELT(out, k, Rf_allocVector(k == 2 ? STRSXP : REALSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        ent_generation of = ent_generations_at(generations, (size_t)i);
        REAL(VECTOR_ELT(out, 0))[i] = of.number;
        REAL(VECTOR_ELT(out, 1))[i] = of.time == 0 ? NA_REAL : of.time;
        SET_STRING_ELT(VECTOR_ELT(out, 2), i, ent_char(of.operation));
        REAL(VECTOR_ELT(out, 3))[i] = of.n_rows < 0 ? NA_REAL : of.n_rows;
        REAL(VECTOR_ELT(out, 4))[i] = of.file_len;
    }
    free_generations(pointer);
    UNPROTECT(2);
    return out;
}

SEXP ent_c_is_worth_compacting(SEXP file) {
    ent_failure *failure = NULL;
    int is_worth = ent_is_worth_compacting(ent_pointer_of(file, "an open file"), &failure);
    return is_worth < 0 ? ent_failed(failure) : Rf_ScalarLogical(is_worth);
}
