/* Builds similar small vectors of a list together, instead of cell by cell. */
#include "make_values.h"

/* Builds the similar vectors from a cell on, and stores them as the next items of the current
 * list. Returns 0 and does nothing if there are none. Objects get the attributes of the previous
 * vector, which is complete. */
int ent_make_small_vectors(maker *m, uint64_t number, int is_object) {
    unfinished_t *to = &m->unfinished[m->n - 1];
    if (to->kind == KIND_VECTOR || to->kind == KIND_ATTRIBUTES) return 0;
    uint64_t i = to->next - to->first - 1;
    /* A reference names this cell, so the cell's index differs from the next item's. */
    if (number != to->first + i || i + 1 >= to->count || (is_object && i == 0)) return 0;
    size_t skip = is_object ? 1 : 0;
    ent_small_vectors vectors = {0};
    ent_failure *failure = NULL;
    ptrdiff_t found = ent_loaded_small_vectors(m->s->loaded, number - skip, to->first + to->count, &vectors, &failure);
    if (found < 0) ent_fail(failure);
    size_t n = (size_t)found;
    if (n < 2 || (vectors.pool < 0 && !is_object)) return 0;
    SEXP all = R_NilValue, like = R_NilValue;
    SEXPTYPE type = REALSXP;
    const char *from = NULL;
    if (vectors.pool >= 0) {
        size_t n_pools;
        const ent_pool *pool = &ent_loaded_pools(m->s->loaded, &n_pools)[vectors.pool];
        from = pool->values;
        if (from != NULL) {
            type = ent_kind_type(pool->kind);
        } else {
            all = VECTOR_ELT(m->pools, (R_xlen_t)vectors.pool);
            type = TYPEOF(all);
            if (ANY_ATTRIB(all)) return 0;
            if (type != STRSXP) from = DATAPTR_RO(all);
        }
    }
    if (is_object) {
        like = VECTOR_ELT(to->items, (R_xlen_t)i - 1);
        if ((SEXPTYPE)TYPEOF(like) != type || (uint64_t)Rf_xlength(like) != vectors.spans[0].len) return 0;
    }
    R_xlen_t at = (R_xlen_t)(i - skip);
    if (type == STRSXP) {
        if (!ent_lazy_slices(all, to->items, at, vectors.spans, skip, n)) return 0;
    } else {
        size_t width = ent_type_width(type);
        for (size_t k = skip; k < n; k++) {
            const ent_span *span = &vectors.spans[k];
            const char *values = from == NULL ? (const char *)&span->at : from + span->at * width;
            SET_VECTOR_ELT(to->items, at + (R_xlen_t)k, ent_make_numbers(type, values, width, (R_xlen_t)span->len));
        }
    }
    if (is_object) {
        for (size_t k = 1; k < n; k++) SHALLOW_DUPLICATE_ATTRIB(VECTOR_ELT(to->items, at + (R_xlen_t)k), like);
    }
    to->next += n - skip - 1;
    return 1;
}
