/* Sessions: cells of an open file in memory, from which make_values.c builds values. */
#include "values.h"

static void free_session(SEXP pointer) {
    ent_session *s = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (s == NULL) return;
    if (s->loaded != NULL) ent_loaded_free(s->loaded);
    free(s->state);
    free(s);
}

/* Opens a session. `int64` is the type for 64-bit integers; 0 for values of R. */
SEXP ent_c_load(SEXP file, SEXP int64) {
    ent_failure *failure = NULL;
    uint64_t n = 0;
    ent_session *s = calloc(1, sizeof *s);
    if (s == NULL) ent_no_memory(sizeof *s, "the values of a tree");
    s->int64 = Rf_asInteger(int64);
    SEXP kept = PROTECT(Rf_allocVector(VECSXP, 3));
    SEXP pointer = PROTECT(ent_hold(s, free_session, kept));
    s->loaded = ent_loaded_new(ent_pointer_of(file, "an open file"), &n, &failure);
    if (s->loaded == NULL) {
        UNPROTECT(2);
        return ent_failed(failure);
    }
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(out, 0, pointer);
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal((double)n));
    UNPROTECT(3);
    return out;
}

/* Reads neighbouring cells and all cells that they name. Returns the columns and ranges of the
 * pools that R code must read. */
SEXP ent_c_close(SEXP pointer, SEXP start, SEXP end) {
    static const char *fields[] = {"column", "start", "end", ""};
    ent_failure *failure = NULL;
    ent_session *s = ent_pointer_of(pointer, "cells");
    ent_watch();
    int done =
        ent_loaded_close(s->loaded, (uint64_t)Rf_asReal(start), (uint64_t)Rf_asReal(end), ent_is_interrupted, &failure);
    ent_watched();
    if (done < 0) return ent_failed(failure);
    size_t n_targets, n;
    ent_loaded_targets(s->loaded, &n_targets);
    const ent_pool *pools = ent_loaded_pools(s->loaded, &n);
    SEXP kept = R_ExternalPtrProtected(pointer);
    SET_VECTOR_ELT(kept, 0, Rf_allocVector(VECSXP, (R_xlen_t)n_targets));
    SET_VECTOR_ELT(kept, 1, Rf_allocVector(VECSXP, (R_xlen_t)n));
    SET_VECTOR_ELT(kept, 2, Rf_allocVector(VECSXP, ENT_RECENT));
    memset(s->recent, 0, sizeof s->recent);
    free(s->state);
    s->state = calloc(n_targets + 1, 1);
    if (s->state == NULL) ent_no_memory(n_targets + 1, "the values of a tree");
    R_xlen_t n_left = 0;
    for (size_t i = 0; i < n; i++) n_left += pools[i].values == NULL;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int k = 0; k < 3; k++) SET_VECTOR_ELT(out, k, Rf_allocVector(REALSXP, n_left));
    R_xlen_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (pools[i].values != NULL) continue;
        REAL(VECTOR_ELT(out, 0))[at] = (double)pools[i].column;
        REAL(VECTOR_ELT(out, 1))[at] = (double)pools[i].start;
        REAL(VECTOR_ELT(out, 2))[at] = (double)pools[i].end;
        at++;
    }
    UNPROTECT(1);
    return out;
}

/* Stores the vectors of these pools. */
SEXP ent_c_pools(SEXP pointer, SEXP vectors) {
    ent_session *s = ent_pointer_of(pointer, "cells");
    size_t n;
    const ent_pool *pools = ent_loaded_pools(s->loaded, &n);
    SEXP all = VECTOR_ELT(R_ExternalPtrProtected(pointer), 1);
    if (TYPEOF(vectors) != VECSXP || (size_t)Rf_xlength(all) != n) Rf_error("the pools do not match");
    R_xlen_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (pools[i].values != NULL) continue;
        SEXP vector = at < Rf_xlength(vectors) ? VECTOR_ELT(vectors, at++) : R_NilValue;
        if (!Rf_isVectorAtomic(vector) || (uint64_t)Rf_xlength(vector) != pools[i].end - pools[i].start) {
            ent_nonsense("a pool with the wrong length");
        }
        SET_VECTOR_ELT(all, (R_xlen_t)i, vector);
    }
    return R_NilValue;
}

/* Frees a session now instead of at the next garbage collection. */
SEXP ent_c_unload(SEXP pointer) {
    if (TYPEOF(pointer) == EXTPTRSXP) {
        free_session(pointer);
        R_SetExternalPtrProtected(pointer, R_NilValue);
    }
    return R_NilValue;
}

void ent_cell_at(const ent_session *s, uint64_t number, ent_cell *cell) {
    ent_failure *failure = NULL;
    if (ent_loaded_cell(s->loaded, number, cell, &failure) < 0) ent_fail(failure);
}

/* The kind and number of a cell, its first child, the count and keys of its children, and its
 * integer. A reference stands for the cell that it names. */
SEXP ent_c_look(SEXP file, SEXP number) {
    static const char *fields[] = {"kind", "number", "first", "count", "keys", "integer", ""};
    ent_failure *failure = NULL;
    ent_cell cell;
    double at = ent_look(ent_pointer_of(file, "an open file"), (uint64_t)Rf_asReal(number), &cell, &failure);
    if (at < 0) return ent_failed(failure);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(cell.kind));
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal(at));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)cell.of[0]));
    SET_VECTOR_ELT(out, 3, Rf_ScalarReal((double)cell.of[2]));
    SET_VECTOR_ELT(out, 4, Rf_ScalarReal((double)cell.of[3]));
    SET_VECTOR_ELT(out, 5, Rf_ScalarReal((double)cell.integer));
    UNPROTECT(1);
    return out;
}
