/* Adds cells, and tests vectors to choose the form of their cells. */
#include "walker.h"

void ent_put_scalar(walker *w, int kind, int64_t integer, double number) {
    ent_failure *failure = NULL;
    if (ent_cells_scalar(w->cells, kind, integer, number, &failure) < 0) ent_fail(failure);
}

/* Adds a string. Returns 0 and adds nothing if it is not UTF-8. */
int ent_put_text(walker *w, SEXP string) {
    ent_failure *failure = NULL;
    const void *top = vmaxget();
    ent_chars chars;
    if (!ent_convert_native(string, &chars)) chars = ent_chars_of(string);
    int done = ent_cells_text(w->cells, chars, &failure);
    if (done < 0) ent_fail(failure);
    vmaxset(top);
    return done;
}

/* Adds the name of an object. */
void ent_put_name(walker *w, const char *name) {
    ent_failure *failure = NULL;
    ent_chars chars = {name, strlen(name)};
    if (ent_cells_text(w->cells, chars, &failure) != 1) ent_fail(failure);
}

/* Adds an array of values that are in a pool. `dim` is NULL for a vector. */
void ent_put_array(walker *w, ent_pooled pooled, const int *dim, size_t n_dim) {
    ent_failure *failure = NULL;
    if (ent_cells_array(w->cells, pooled, dim, n_dim, &failure) < 0) ent_fail(failure);
}

/* Adds numbers to a pool, for an array. */
ent_pooled ent_put_numbers(walker *w, int kind, const void *memory, R_xlen_t n) {
    ent_failure *failure = NULL;
    ent_pooled pooled;
    if (ent_cells_numbers(w->cells, kind, memory, (size_t)n, &pooled, &failure) < 0) ent_fail(failure);
    return pooled;
}

void ent_put_reference(walker *w, uint64_t number) { ent_put_scalar(w, ENT_CELL_REFERENCE, (int64_t)number, 0); }

/* Adds `n` cells that may have children. Returns the first one's number, counting only such
 * cells. */
size_t ent_put_parents(walker *w, int kind, size_t n) {
    ent_failure *failure = NULL;
    ptrdiff_t first = ent_cells_parents(w->cells, kind, n, &failure);
    if (first < 0) ent_fail(failure);
    return (size_t)first;
}

/* Adds a cell and defers its children. */
void ent_put_parent(walker *w, int kind, int below, SEXP object, at_t at) {
    ent_defer(w, below, object, at, ent_put_parents(w, kind, 1), 0);
}

/* Adds the cell of an object and defers its children. */
void ent_put_object(walker *w, int below, SEXP x, at_t at) { ent_put_parent(w, ENT_CELL_OBJECT, below, x, at); }

/* Adds strings with other encodings than UTF-8, as an object. Copies the encodings, because the
 * collector may move them. */
void ent_put_encoded(walker *w, const unsigned char *encodings, ent_pooled pooled, SEXP dim, at_t at) {
    SEXP parts = PROTECT(Rf_allocVector(VECSXP, 3));
    SET_VECTOR_ELT(parts, 0, Rf_allocVector(RAWSXP, (R_xlen_t)pooled.len));
    memcpy(RAW(VECTOR_ELT(parts, 0)), encodings, (size_t)pooled.len);
    SET_VECTOR_ELT(parts, 1, dim);
    SET_VECTOR_ELT(parts, 2, Rf_allocVector(RAWSXP, sizeof pooled));
    memcpy(RAW(VECTOR_ELT(parts, 2)), &pooled, sizeof pooled);
    ent_walk_keep(w, parts);
    ent_put_object(w, BELOW_TEXT, parts, at);
    UNPROTECT(1);
}

/* The kind of a vector of numbers. */
int ent_vector_kind(SEXP x) {
    switch (TYPEOF(x)) {
    case LGLSXP: return ENT_KIND_LOGICAL;
    case INTSXP: return ENT_KIND_INTEGER;
    case REALSXP: return ENT_KIND_DOUBLE;
    case CPLXSXP: return ENT_KIND_COMPLEX;
    default: return ENT_KIND_RAW;
    }
}

/* Whether a vector has dimensions and no other attributes. */
int ent_is_matrix(SEXP x) {
    SEXP dim = Rf_isS4(x) ? NULL : ent_only_attribute(x, R_DimSymbol);
    return dim != NULL && TYPEOF(dim) == INTSXP && !ANY_ATTRIB(dim) && Rf_xlength(dim) > 1;
}

/* Longest attribute values to compare. */
#define FEW 64

/* Whether two values are the same, or short equal vectors without attributes. */
int ent_are_equal(SEXP a, SEXP b) {
    if (a == b) return 1;
    if (!Rf_isVectorAtomic(a) || TYPEOF(a) != TYPEOF(b) || ANY_ATTRIB(a) || ANY_ATTRIB(b)) return 0;
    R_xlen_t n = Rf_xlength(a);
    if (n != Rf_xlength(b) || n > FEW || Rf_isS4(a) || Rf_isS4(b)) return 0;
    /* Equal strings have equal addresses in R. */
    return n == 0 || memcmp(ent_memory_read(a), ent_memory_read(b), (size_t)n * ent_type_width(TYPEOF(a))) == 0;
}
