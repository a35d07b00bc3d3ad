/* Large vectors that were met: one that is in a tree twice is stored once. Values stay where they are until the file is written, so
 * their addresses tell them. */
#include "values.h"

/* Smaller ones cost less than to look for them. */
#define LARGE 512

static size_t width_of(SEXP x) {
    switch (TYPEOF(x)) {
    case RAWSXP: return 1;
    case LGLSXP: case INTSXP: return 4;
    case REALSXP: case STRSXP: return 8;
    case CPLXSXP: return 16;
    default: return 0;
    }
}

static ent_met_one *place_of(const ent_met *table, SEXP x) {
    size_t at = (size_t)(((uint64_t)(uintptr_t)x * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (table->room - 1);
    while (table->all[at].vector != NULL && table->all[at].vector != x) at = (at + 1) & (table->room - 1);
    return &table->all[at];
}

/* Whether a vector is one that is looked for. */
int ent_is_large(SEXP x) { return (size_t)Rf_xlength(x) * width_of(x) >= LARGE; }

/* The cell of a vector that was met; else 0, and the next time it is the one that is told now, when the vector is a large one. */
int ent_met_before(ent_met *table, SEXP x, uint64_t *number) {
    if (!ent_is_large(x)) return 0;
    ent_met_one *old = table->all;
    size_t n_old = table->room;
    ent_met_one *more = ent_doubled(table->n, &table->room, sizeof *more);
    if (more != NULL) {
        table->all = more;
        for (size_t i = 0; i < n_old; i++) {
            if (old[i].vector != NULL) *place_of(table, old[i].vector) = old[i];
        }
        free(old);
    }
    ent_met_one *one = place_of(table, x);
    if (one->vector == NULL) {
        *one = (ent_met_one){x, *number};
        table->n++;
        return 0;
    }
    *number = one->number;
    return 1;
}

void ent_met_free(ent_met *table) { free(table->all); }
