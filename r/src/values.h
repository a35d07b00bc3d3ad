/* Shared by the files that map values of R to files and back. */
#ifndef VALUES_H
#define VALUES_H

#include "glue.h"

/* nodes.c */
SEXP ent_to_nodes(SEXP value, const ent_node **nodes, size_t *n);
void ent_nodes_free(SEXP memory);
SEXP ent_from_nodes(const ent_node *nodes, size_t n);
SEXP ent_take(const ent_node **at, const ent_node *end);

/* column_groups.c */
SEXP ent_attributes_of(SEXP x);
int ent_are_same(SEXP a, SEXP b, R_xlen_t most);

/* attribute_nodes_write.c */
size_t ent_count_plain(SEXP attributes);
ent_node *ent_put_plain(SEXP attributes, ent_node *at);

/* attribute_nodes_read.c */
SEXP ent_take_columns(const ent_node **at, const ent_node *end);

/* walk.c */
ent_cells *ent_walked(SEXP pointer);

/* attributes.c */
typedef struct {
    SEXP name, value; /* a symbol, and what it names */
} ent_attribute;

typedef struct {
    ent_attribute *all, few[16];
    size_t n, room;
} ent_attributes;

void ent_collect_attributes(SEXP x, ent_attributes *out);
int ent_has_attributes(SEXP x, const ent_attributes *others, int (*are_same)(SEXP, SEXP));
SEXP ent_only_attribute(SEXP x, SEXP name);

/* key_sets.c */
typedef struct {
    uint64_t hash, first;
    R_xlen_t n;
    SEXP *keys;
} ent_known_keys;

typedef struct {
    ent_known_keys *known;
    size_t n, room; /* a power of two, or 0 */
} ent_keys;

int ent_keys_find(const ent_keys *table, const SEXP *keys, R_xlen_t n, uint64_t *first);
void ent_keys_add(ent_keys *table, const SEXP *keys, R_xlen_t n, uint64_t first);
int ent_keys_differ(const SEXP *keys, R_xlen_t n);
void ent_keys_free(ent_keys *table);

/* shared_vectors.c */
typedef struct {
    SEXP vector;
    uint64_t number;
} ent_met_one;

typedef struct {
    ent_met_one *all;
    size_t n, room; /* a power of two, or 0 */
} ent_met;

int ent_is_large(SEXP x);
int ent_met_before(ent_met *table, SEXP x, uint64_t *number);
void ent_met_free(ent_met *table);

/* repeated_values.c */
typedef struct {
    uint64_t hash;
    SEXP value; /* a value in the tree, which stays alive */
    uint64_t number; /* its cell */
} ent_same_one;

typedef struct {
    ent_same_one *all;
    size_t n, room; /* a power of two, or 0 */
    size_t looks, found;
} ent_same;

int ent_same_before(ent_same *table, SEXP x, uint64_t *number);
int ent_same_attributes_before(ent_same *table, SEXP x, uint64_t *number);
void ent_same_free(ent_same *table);

/* cell_session.c: a session. Its pointer protects a list: targets of references, vectors of pools,
 * recent names. */
#define ENT_LATELY 256

/* The types for 64-bit integers of other hosts, as in R/integers.R. */
enum { ENT_INT64_FIT = 1, ENT_INT64_ALWAYS, ENT_INT64_DOUBLE };

typedef struct {
    ent_loaded *loaded;
    int int64; /* 0 for values of R */
    unsigned char *state; /* of each target of references: 0 new, 1 being built, 2 built */
    uint64_t lately[ENT_LATELY];
} ent_session;

void ent_cell_at(const ent_session *s, uint64_t number, ent_cell *cell);

/* integers.c */
void ent_note_class(SEXP class);
SEXP ent_fitting(SEXP x);

/* altstring.c */
void ent_init_altstring(DllInfo *dll);
SEXP ent_lazy_strings(ent_text *text);
SEXP ent_lazy_slice(SEXP x, R_xlen_t at, R_xlen_t n);
int ent_lazy_slices(SEXP x, SEXP items, R_xlen_t to, const ent_place *places, size_t from, size_t n);
SEXP ent_raw_list(ent_text *text);
SEXP ent_eager_strings(ent_text *text, const unsigned char *kept);
int ent_mark_strings(SEXP strings, const unsigned char *kept);

#endif
