/* Writes neighbouring small vectors of one type together: one call adds the cells of hundreds. */
#include "walker.h"

/* Values, or vectors, per call. */
#define BATCH 256
/* Most vectors per step. Interrupts are checked between steps. */
#define ONE_STEP 65536
/* Distance of prefetches: items and their attributes are anywhere in memory. */
#define AHEAD 8

static int is_bare(SEXP x) { return !ANY_ATTRIB(x) && !Rf_isS4(x) && !ALTREP(x); }

static void fetch(SEXP x, R_xlen_t i, R_xlen_t n) {
#ifdef __GNUC__
    if (i + 2 * AHEAD < n) {
        __builtin_prefetch(VECTOR_ELT(x, i + 2 * AHEAD));
        ent_prefetch_attributes(VECTOR_ELT(x, i + AHEAD));
    }
#endif
}

/* Short character vectors. */
static R_xlen_t texts(walker *w, SEXP x, at_t at) {
    ent_string batch[BATCH];
    size_t lens[BATCH / 2], n = 0, sum = 0;
    R_xlen_t end = Rf_xlength(x);
    for (R_xlen_t i = at.position; i < end && n < BATCH / 2; i++) {
        SEXP item = VECTOR_ELT(x, i);
        if (TYPEOF(item) != STRSXP || !is_bare(item)) break;
        /* A single value is a scalar, and large vectors are looked up among shared ones. */
        size_t len = (size_t)Rf_xlength(item);
        if (len < 2 || len > 32 || sum + len > BATCH) break;
        for (size_t k = 0; k < len; k++) ent_string_of(STRING_ELT(item, (R_xlen_t)k), &batch[sum + k]);
        lens[n++] = len;
        sum += len;
    }
    if (n < 2) return 0;
    ent_failure *failure = NULL;
    ent_encoded encoded;
    ptrdiff_t done = ent_cells_texts(w->cells, batch, lens, n, (uintptr_t)NA_STRING, &encoded, &failure);
    if (done < 0) ent_fail(failure);
    if ((size_t)done == n) return (R_xlen_t)n;
    at.position += done;
    ent_put_encoded(w, encoded.encodings, encoded.pooled, R_NilValue, at);
    return (R_xlen_t)done + 1;
}

/* Vectors of one number, which is not missing. */
static R_xlen_t singles(walker *w, SEXP x, at_t at) {
    double values[BATCH];
    R_xlen_t n = 0, end = Rf_xlength(x);
    int type = TYPEOF(VECTOR_ELT(x, at.position));
    for (R_xlen_t i = at.position; i < end && n < BATCH; i++, n++) {
        SEXP item = VECTOR_ELT(x, i);
        fetch(x, i, end);
        if (TYPEOF(item) != type || Rf_xlength(item) != 1 || !is_bare(item)) break;
        if (type == REALSXP) values[n] = REAL_ELT(item, 0);
        else if (INTEGER_ELT(item, 0) == NA_INTEGER) break;
        else values[n] = INTEGER_ELT(item, 0);
    }
    if (n < 2) return 0;
    ent_failure *failure = NULL;
    int kind = type == REALSXP ? ENT_CELL_FLOAT : ENT_CELL_INT;
    if (ent_cells_scalars(w->cells, kind, values, (size_t)n, &failure) < 0) ent_fail(failure);
    return n;
}

/* Short vectors of numbers of one type. */
static R_xlen_t vectors(walker *w, SEXP x, at_t at) {
    const void *memory[BATCH];
    size_t lens[BATCH];
    R_xlen_t n = 0, end = Rf_xlength(x);
    SEXP first = VECTOR_ELT(x, at.position);
    int type = TYPEOF(first);
    for (R_xlen_t i = at.position; i < end && n < BATCH; i++, n++) {
        SEXP item = VECTOR_ELT(x, i);
        fetch(x, i, end);
        if (TYPEOF(item) != type || !is_bare(item)) break;
        /* A single value is a scalar, and large vectors are looked up among shared ones. */
        lens[n] = (size_t)Rf_xlength(item);
        if (lens[n] < 2 || ent_is_large(item)) break;
        memory[n] = DATAPTR_RO(item);
    }
    if (n < 2) return 0;
    ent_failure *failure = NULL;
    if (ent_cells_arrays(w->cells, ent_vector_kind(first), memory, lens, (size_t)n, &failure) < 0) ent_fail(failure);
    return n;
}

static int is_number(SEXP x) { return TYPEOF(x) == INTSXP || TYPEOF(x) == REALSXP || TYPEOF(x) == LGLSXP; }

/* Short vectors of numbers with attributes become objects, whose children are added in one step. */
static R_xlen_t decorated(walker *w, SEXP x, at_t at) {
    R_xlen_t n = 0, end = Rf_xlength(x);
    for (R_xlen_t i = at.position; i < end && n < ONE_STEP; i++, n++) {
        SEXP item = VECTOR_ELT(x, i);
        fetch(x, i, end);
        if (!is_number(item) || !ANY_ATTRIB(item) || Rf_isS4(item) || ent_is_large(item)) break;
        if (ent_is_matrix(item)) break;
    }
    if (n < 2) return 0;
    ent_defer(w, BELOW_NEIGHBOURS, x, at, ent_put_parents(w, ENT_CELL_OBJECT, (size_t)n), n);
    return n;
}

/* Adds the children of neighbouring objects that have the attributes of the previous vector.
 * Returns their number. */
R_xlen_t ent_write_like_previous(walker *w, const step_t *step) {
    const void *memory[BATCH];
    size_t lens[BATCH];
    R_xlen_t n = 0, at = step->at.position, end = at + step->n_left;
    if (w->previous == NULL) return 0;
    const void *top = vmaxget();
    ent_attributes like;
    ent_collect_attributes(w->previous, &like);
    int type = TYPEOF(VECTOR_ELT(step->object, at));
    for (R_xlen_t i = at; i < end && n < BATCH; i++, n++) {
        SEXP item = VECTOR_ELT(step->object, i);
        fetch(step->object, i, end);
        lens[n] = (size_t)Rf_xlength(item);
        /* A single number is a scalar, which has no attributes unless it is a double. */
        if (TYPEOF(item) != type || lens[n] == 0 || (lens[n] == 1 && type != REALSXP) ||
            !ent_has_attributes(item, &like, ent_are_equal))
            break;
        memory[n] = DATAPTR_RO(item);
    }
    vmaxset(top);
    if (n == 0) return 0;
    ent_failure *failure = NULL;
    int kind = ent_vector_kind(VECTOR_ELT(step->object, at));
    if (ent_cells_like(w->cells, step->parent, kind, memory, lens, (size_t)n, w->previous_attributes, &failure) < 0)
        ent_fail(failure);
    return n;
}

/* Adds the similar items of a list from a position on. Returns their number; 0 for none. */
R_xlen_t ent_write_small_vectors(walker *w, SEXP x, at_t at) {
    SEXP first = VECTOR_ELT(x, at.position);
    fetch(x, at.position, Rf_xlength(x));
    if (ANY_ATTRIB(first)) return is_number(first) ? decorated(w, x, at) : 0;
    switch (TYPEOF(first)) {
    case STRSXP: return texts(w, x, at);
    case LGLSXP: return vectors(w, x, at);
    case INTSXP:
    case REALSXP: return Rf_xlength(first) == 1 ? singles(w, x, at) : vectors(w, x, at);
    default: return 0;
    }
}
