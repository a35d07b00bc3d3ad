/* What the tables of the walk share (keys.c, met.c): open addressing, at most half full, places by hash. */
#ifndef TABLE_H
#define TABLE_H

#include "values.h"

static inline uint64_t ent_table_mix(uint64_t bits) { return bits * UINT64_C(0x9E3779B97F4A7C15); }

/* The first place to look at for a hash, in a table of a power of two places. */
static inline size_t ent_table_slot(uint64_t hash, size_t room) { return (size_t)(hash >> 20) & (room - 1); }

void *ent_table_grown(void *all, size_t n, size_t *room, size_t width, uint64_t (*hash_of)(const void *one));

#endif
