/* Growth of hash tables. */
#include "hash_table.h"

/* A table with room for one more than its `n` entries of `width` bytes, in new memory if needed.
 * `hash_of` returns the hash of an entry, and 0 for a free slot, which is all zeros. */
void *ent_table_grown(void *all, size_t n, size_t *room, size_t width, uint64_t (*hash_of)(const void *one)) {
    if (2 * (n + 1) <= *room) return all;
    size_t wanted = *room == 0 ? 64 : 2 * *room;
    char *more = calloc(wanted, width);
    if (more == NULL) ent_no_memory(wanted * width, "the values of a tree");
    for (size_t i = 0; i < *room; i++) {
        const char *one = (const char *)all + i * width;
        uint64_t hash = hash_of(one);
        if (hash == 0) continue;
        size_t at = ent_table_slot(hash, wanted);
        while (hash_of(more + at * width) != 0) at = (at + 1) & (wanted - 1);
        memcpy(more + at * width, one, width);
    }
    free(all);
    *room = wanted;
    return more;
}
