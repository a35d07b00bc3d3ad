/* The keys of maps, so that maps with equal keys share them. Equal strings have equal addresses in
 * R. */
#include "hash_table.h"

/* Only maps with up to this many keys share them. */
#define SHARED_KEYS 256

static uint64_t hash_keys(const SEXP *keys, R_xlen_t n) {
    uint64_t hash = (uint64_t)n;
    for (R_xlen_t i = 0; i < n; i++) hash = ent_table_mix((hash << 5 | hash >> 59) ^ (uint64_t)(uintptr_t)keys[i]);
    /* Zero marks a free slot. */
    return hash | 1;
}

static uint64_t hash_of(const void *one) { return ((const ent_key_set *)one)->hash; }

/* The slot of these keys in the table, or the free slot for them. */
static ent_key_set *slot_of(const ent_key_sets *table, uint64_t hash, const SEXP *keys, R_xlen_t n) {
    size_t at = ent_table_slot(hash, table->room);
    while (table->known[at].keys != NULL) {
        ent_key_set *known = &table->known[at];
        if (known->hash == hash && known->n == n && memcmp(known->keys, keys, (size_t)n * sizeof *keys) == 0) break;
        at = (at + 1) & (table->room - 1);
    }
    return &table->known[at];
}

/* Finds the cell of the first of these keys. */
int ent_key_sets_find(const ent_key_sets *table, const SEXP *keys, R_xlen_t n, uint64_t *first) {
    if (n == 0 || n > SHARED_KEYS || table->room == 0) return 0;
    const ent_key_set *known = slot_of(table, hash_keys(keys, n), keys, n);
    *first = known->first;
    return known->keys != NULL;
}

/* Adds keys that the table lacks. */
void ent_key_sets_add(ent_key_sets *table, const SEXP *keys, R_xlen_t n, uint64_t first) {
    if (n == 0 || n > SHARED_KEYS) return;
    table->known = ent_table_grown(table->known, table->n, &table->room, sizeof *table->known, hash_of);
    SEXP *copy = malloc((size_t)n * sizeof *copy);
    if (copy == NULL) ent_no_memory((size_t)n * sizeof *copy, "the values of a tree");
    memcpy(copy, keys, (size_t)n * sizeof *copy);
    uint64_t hash = hash_keys(keys, n);
    *slot_of(table, hash, keys, n) = (ent_key_set){hash, first, n, copy};
    table->n++;
}

void ent_key_sets_free(ent_key_sets *table) {
    for (size_t i = 0; i < table->room; i++) free(table->known[i].keys);
    free(table->known);
}

/* Whether all keys are distinct. */
int ent_keys_are_distinct(const SEXP *keys, R_xlen_t n) {
    if (n <= 16) {
        for (R_xlen_t i = 1; i < n; i++) {
            for (R_xlen_t k = 0; k < i; k++) {
                if (keys[i] == keys[k]) return 0;
            }
        }
        return 1;
    }
    size_t room = 64;
    while (room < 2 * (size_t)n) room *= 2;
    const void *top = vmaxget();
    SEXP *seen = (SEXP *)R_alloc(room, sizeof *seen);
    memset(seen, 0, room * sizeof *seen);
    int differ = 1;
    for (R_xlen_t i = 0; i < n && differ; i++) {
        size_t at = ent_table_slot(ent_table_mix((uint64_t)(uintptr_t)keys[i]), room);
        while (seen[at] != NULL && seen[at] != keys[i]) at = (at + 1) & (room - 1);
        differ = seen[at] == NULL;
        seen[at] = keys[i];
    }
    vmaxset(top);
    return differ;
}
