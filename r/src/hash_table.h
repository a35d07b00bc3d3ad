/* Hash tables with open addressing, at most half full. */
#ifndef TABLE_H
#define TABLE_H

#include "values.h"

static inline uint64_t ent_table_mix(uint64_t bits) { return bits * UINT64_C(0x9E3779B97F4A7C15); }

/* The first slot for a hash in a table whose size is a power of two. */
static inline size_t ent_table_slot(uint64_t hash, size_t room) { return (size_t)(hash >> 20) & (room - 1); }

void *ent_table_grown(void *all, size_t n, size_t *room, size_t width, uint64_t (*hash_of)(const void *one));

#endif
