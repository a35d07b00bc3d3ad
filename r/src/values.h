/* Shared by the files that write and read values of R. */
#ifndef VALUES_H
#define VALUES_H

#include "glue.h"

/* strings.c */
void ent_string_of(SEXP string, ent_string *out);
int ent_collect(ent_strings *collected, SEXP x, R_xlen_t i, R_xlen_t n, ent_failure **failure);

/* nodes.c */
SEXP ent_to_nodes(SEXP value, const ent_node **nodes, size_t *n);
void ent_nodes_free(SEXP memory);
SEXP ent_take(const ent_node **at, const ent_node *end);
SEXP ent_take_map(const ent_node **at, const ent_node *end, int n,
                  SEXP (*take_value)(SEXP key, const ent_node **at, const ent_node *end));

/* column_groups.c */
SEXP ent_attributes_of(SEXP x);
int ent_are_same(SEXP a, SEXP b, R_xlen_t most);

/* attribute_nodes_write.c */
size_t ent_count_plain(SEXP attributes);
ent_node *ent_put_plain(SEXP attributes, ent_node *at);

/* attribute_nodes_read.c */
SEXP ent_take_columns(const ent_node **at, const ent_node *end);

/* host_map_read.c */
SEXP ent_from_nodes(const ent_node *nodes, size_t n);

/* read.c */
void ent_free_file(SEXP pointer);
const ent_limit *ent_limits_of(SEXP limits);
SEXP ent_value_of(ent_tree *tree);

/* write.c */
void ent_free_builder(SEXP pointer);
ent_options ent_options_of(SEXP options);

/* walker.c */
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
} ent_key_set;

typedef struct {
    ent_key_set *known;
    size_t n, room; /* a power of two, or 0 */
} ent_key_sets;

int ent_key_sets_find(const ent_key_sets *table, const SEXP *keys, R_xlen_t n, uint64_t *first);
void ent_key_sets_add(ent_key_sets *table, const SEXP *keys, R_xlen_t n, uint64_t first);
int ent_keys_are_distinct(const SEXP *keys, R_xlen_t n);
void ent_key_sets_free(ent_key_sets *table);

/* locale.c */
int ent_locale_is_other(void);
int ent_convert_native(SEXP string, ent_chars *out);

/* shared_vectors.c */
typedef struct {
    SEXP vector;
    uint64_t number;
} ent_shared_vector;

typedef struct {
    ent_shared_vector *all;
    size_t n, room; /* a power of two, or 0 */
} ent_shared_vectors;

int ent_is_large(SEXP x);
int ent_shared_objects_find(ent_shared_vectors *table, SEXP x, uint64_t *number);
int ent_shared_vectors_find(ent_shared_vectors *table, SEXP x, uint64_t *number);
void ent_shared_vectors_free(ent_shared_vectors *table);

/* repeated_values.c */
typedef struct {
    uint64_t hash;
    SEXP value; /* a value in the tree, which stays alive */
    uint64_t number; /* its cell */
} ent_repeat;

typedef struct {
    ent_repeat *all;
    size_t n, room; /* a power of two, or 0 */
    size_t looks, found;
} ent_repeats;

int ent_repeats_find(ent_repeats *table, SEXP x, uint64_t *number);
int ent_repeats_find_attributes(ent_repeats *table, SEXP x, uint64_t *number);
void ent_repeats_free(ent_repeats *table);

/* cell_session.c: a session. Its pointer protects a list: targets of references, vectors of pools,
 * recent names. */
#define ENT_RECENT 256

/* The types for 64-bit integers of other hosts, as in R/file.R. */
enum { ENT_INT64_FIT = 1, ENT_INT64_ALWAYS, ENT_INT64_DOUBLE };

typedef struct {
    ent_loaded *loaded;
    int int64; /* 0 for values of R */
    unsigned char *state; /* of each target of references: 0 new, 1 being built, 2 built */
    uint64_t recent[ENT_RECENT];
} ent_session;

void ent_cell_at(const ent_session *s, uint64_t number, ent_cell *cell);

/* integers.c */
void ent_note_class(SEXP class);
SEXP ent_integer_shown(ent_integer_at at);
SEXP ent_fitting(SEXP x);

/* altstring.c */
void ent_init_altstring(DllInfo *dll);
SEXP ent_lazy_strings(ent_text *text);
SEXP ent_lazy_slice(SEXP x, R_xlen_t at, R_xlen_t n);
int ent_lazy_slices(SEXP x, SEXP items, R_xlen_t to, const ent_span *spans, size_t from, size_t n);
SEXP ent_raw_list(ent_text *text);
SEXP ent_eager_strings(ent_text *text, const unsigned char *kept);
int ent_mark_strings(SEXP strings, const unsigned char *kept);

#endif
