/* Kinds of vectors, and what R has for them. */
#include "glue.h"

SEXPTYPE ent_kind_type(int kind) {
    switch (kind) {
    case ENT_KIND_LOGICAL:
        return LGLSXP;
    case ENT_KIND_INTEGER: case ENT_KIND_CODES: case ENT_KIND_WORDS:
    case ENT_KIND_DAYS_INTEGER: case ENT_KIND_INSTANT_INTEGER: case ENT_KIND_SPAN_INTEGER:
        return INTSXP;
    case ENT_KIND_COMPLEX:
        return CPLXSXP;
    case ENT_KIND_RAW:
        return RAWSXP;
    case ENT_KIND_CHARACTER:
        return STRSXP;
    case ENT_KIND_LIST: case ENT_KIND_BYTES:
        return VECSXP;
    default:
        return REALSXP;
    }
}

/* Bytes of a value in memory. */
size_t ent_kind_width(int kind) {
    switch (ent_kind_type(kind)) {
    case RAWSXP: return 1;
    case LGLSXP: case INTSXP: return 4;
    case CPLXSXP: return 16;
    default: return 8;
    }
}
