/* The types and memory of vectors. */
#include "glue.h"

SEXPTYPE ent_kind_type(int kind) {
    switch (kind) {
    case ENT_KIND_LOGICAL: return LGLSXP;
    case ENT_KIND_INTEGER:
    case ENT_KIND_CODES:
    case ENT_KIND_WORDS:
    case ENT_KIND_DAYS_INTEGER:
    case ENT_KIND_INSTANT_INTEGER:
    case ENT_KIND_SPAN_INTEGER: return INTSXP;
    case ENT_KIND_COMPLEX: return CPLXSXP;
    case ENT_KIND_RAW: return RAWSXP;
    case ENT_KIND_CHARACTER: return STRSXP;
    case ENT_KIND_LIST:
    case ENT_KIND_BYTES: return VECSXP;
    default: return REALSXP;
    }
}

/* The writable memory of a vector of numbers; NULL for any other. */
void *ent_memory(SEXP x) {
    switch (TYPEOF(x)) {
    case LGLSXP: return LOGICAL(x);
    case INTSXP: return INTEGER(x);
    case REALSXP: return REAL(x);
    case CPLXSXP: return COMPLEX(x);
    case RAWSXP: return RAW(x);
    default: return NULL;
    }
}

/* The memory of an atomic vector, to be read. */
const void *ent_memory_read(SEXP x) { return TYPEOF(x) == STRSXP ? (const void *)STRING_PTR_RO(x) : DATAPTR_RO(x); }

/* Bytes of a value in a vector's memory; 0 for types that are not atomic. */
size_t ent_type_width(SEXPTYPE type) {
    switch (type) {
    case RAWSXP: return 1;
    case LGLSXP:
    case INTSXP: return sizeof(int);
    case REALSXP: return sizeof(double);
    case CPLXSXP: return sizeof(Rcomplex);
    case STRSXP: return sizeof(SEXP);
    default: return 0;
    }
}

size_t ent_kind_width(int kind) { return ent_type_width(ent_kind_type(kind)); }
