/* Objects that R code cannot make or inspect itself: attributes in place, lengths, pointers. */
#include "values.h"

/* Sets the attributes of a new vector in place, where `attributes<-` would copy it. Leaves out
 * NULL. */
SEXP ent_c_decorate(SEXP x, SEXP attributes, SEXP s4) {
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    if (Rf_xlength(attributes) > 0 && TYPEOF(attributes) != VECSXP) ent_nonsense("attributes are not a list");
    for (R_xlen_t i = 0; i < Rf_xlength(attributes); i++) {
        SEXP value = VECTOR_ELT(attributes, i);
        if (value == R_NilValue) continue;
        if (LENGTH(STRING_ELT(names, i)) == 0) ent_nonsense("an attribute has no name");
        SEXP symbol = Rf_installTrChar(STRING_ELT(names, i));
        ent_set_attribute(x, symbol, value);
        if (symbol == R_ClassSymbol) ent_note_class(value);
    }
    return Rf_asLogical(s4) == TRUE ? Rf_asS4(x, TRUE, 0) : x;
}

static int is_named(SEXP names, R_xlen_t i, const char *name) { return strcmp(CHAR(STRING_ELT(names, i)), name) == 0; }

/* Sets the attributes of many atomic vectors: each gets the attributes at its position in `given`.
 * `levels` is NULL, or has for each vector the levels to set where the attribute is NULL. */
SEXP ent_c_decorate_all(SEXP vectors, SEXP which, SEXP given, SEXP levels) {
    for (R_xlen_t i = 0; i < Rf_xlength(vectors); i++) {
        SEXP x = VECTOR_ELT(vectors, i), attributes = VECTOR_ELT(given, INTEGER(which)[i] - 1);
        SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
        for (R_xlen_t k = 0; k < Rf_xlength(attributes); k++) {
            if (LENGTH(STRING_ELT(names, k)) == 0) ent_nonsense("an attribute has no name");
            SEXP symbol = Rf_installTrChar(STRING_ELT(names, k)), value = VECTOR_ELT(attributes, k);
            int lacks_levels = value == R_NilValue && levels != R_NilValue && is_named(names, k, "levels");
            if (lacks_levels) value = VECTOR_ELT(levels, i);
            if (value == R_NilValue) continue;
            ent_set_attribute(x, symbol, value);
            if (symbol == R_ClassSymbol) ent_note_class(value);
        }
        /* Methods of these classes require lists. */
        int is_of_lists = Rf_inherits(x, "data.frame") || Rf_inherits(x, "POSIXlt");
        if (is_of_lists) ent_nonsense("a vector whose class requires a list");
    }
    return vectors;
}

/* The lengths of the items of a list, without methods for length(). */
SEXP ent_c_lengths(SEXP list) {
    if (TYPEOF(list) != VECSXP) Rf_error("lengths of a value that is not a list");
    R_xlen_t n = Rf_xlength(list);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
    for (R_xlen_t i = 0; i < n; i++) REAL(out)[i] = (double)Rf_xlength(VECTOR_ELT(list, i));
    UNPROTECT(1);
    return out;
}

/* A lazy table or list: an external pointer, which R's functions neither open nor treat as a list
 * or a scope. Its content is in an attribute, which R saves with the object. The address is never
 * followed. It must not be NULL: `for` treats a null pointer as an empty sequence, but refuses
 * other pointers. */
SEXP ent_c_lazy(SEXP content, SEXP class) {
    SEXP object = PROTECT(R_MakeExternalPtr(content, R_NilValue, R_NilValue));
    Rf_setAttrib(object, Rf_install("content"), content);
    Rf_classgets(object, class);
    UNPROTECT(1);
    return object;
}

/* A null external pointer, or an empty weak reference, as readRDS() returns them. */
SEXP ent_c_pointer(SEXP is_weak) {
    if (Rf_asLogical(is_weak) == TRUE) return R_MakeWeakRef(R_NilValue, R_NilValue, R_NilValue, FALSE);
    return R_MakeExternalPtr(NULL, R_NilValue, R_NilValue);
}
