/* Finds large vectors and external pointers that a tree contains twice, which are stored once. All
 * values stay alive until the file is written, so addresses identify them. */
#include "hash_table.h"

/* Bytes of a vector from which a lookup costs less than a copy. */
#define LARGE 512

/* Zero only for a free slot: the mixing is a bijection. */
static uint64_t hash_of(const void *one) {
    return ent_table_mix((uint64_t)(uintptr_t)((const ent_shared_vector *)one)->vector);
}

static ent_shared_vector *slot_of(const ent_shared_vectors *table, SEXP x) {
    size_t at = ent_table_slot(ent_table_mix((uint64_t)(uintptr_t)x), table->room);
    while (table->all[at].vector != NULL && table->all[at].vector != x) at = (at + 1) & (table->room - 1);
    return &table->all[at];
}

/* Whether a vector is large enough to be looked up. */
int ent_is_large(SEXP x) { return (size_t)Rf_xlength(x) * ent_type_width(TYPEOF(x)) >= LARGE; }

/* Finds the cell of an object by its address. If there is none, remembers that its cell is
 * `*number`. */
int ent_shared_objects_find(ent_shared_vectors *table, SEXP x, uint64_t *number) {
    table->all = ent_table_grown(table->all, table->n, &table->room, sizeof *table->all, hash_of);
    ent_shared_vector *one = slot_of(table, x);
    if (one->vector == NULL) {
        *one = (ent_shared_vector){x, *number};
        table->n++;
        return 0;
    }
    *number = one->number;
    return 1;
}

/* As `ent_shared_objects_find` for a vector, but neither finds nor remembers a small one. */
int ent_shared_vectors_find(ent_shared_vectors *table, SEXP x, uint64_t *number) {
    return ent_is_large(x) && ent_shared_objects_find(table, x, number);
}

void ent_shared_vectors_free(ent_shared_vectors *table) { free(table->all); }
