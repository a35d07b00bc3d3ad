/* What the C files share. All that calls R is C: none of R's long jumps crosses a frame of Rust, because what calls R holds
 * Rust's objects by external pointers, whose finalizers free them when a jump passes by. */
#ifndef GLUE_H
#define GLUE_H

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <R.h>
#include <Rinternals.h>

#include "entasis.h"

/* guard.c */
SEXP ent_failed(ent_failure *failure);
void NORET ent_fail(ent_failure *failure);
void ent_watch(void);
void ent_watched(void);
int ent_is_interrupted(double done, double total);
ent_chars ent_chars_of(SEXP string);
SEXP ent_char(ent_chars chars);
SEXP ent_hold(void *object, R_CFinalizer_t finalizer, SEXP keep);
void *ent_held(SEXP pointer, const char *what);
SEXP ent_element(SEXP list, const char *name);

/* kinds.c */
SEXPTYPE ent_kind_type(int kind);
size_t ent_kind_width(int kind);

/* value.c */
SEXP ent_to_nodes(SEXP value, const ent_node **nodes, size_t *n);
SEXP ent_from_nodes(const ent_node *nodes, size_t n);

/* write.c */
int ent_collect(ent_strings *collected, SEXP x, ent_failure **failure);

/* walk.c */
ent_cells *ent_walked(SEXP pointer);

/* keys.c */
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

/* met.c */
typedef struct {
    SEXP vector;
    uint64_t number;
} ent_met_one;

typedef struct {
    ent_met_one *all;
    size_t n, room; /* a power of two, or 0 */
} ent_met;

int ent_met_before(ent_met *table, SEXP x, uint64_t *number);
void ent_met_free(ent_met *table);

/* cells.c: cells in memory. The pointer keeps a list: what references mean, the vectors of pools, names made lately. */
#define ENT_LATELY 256

typedef struct {
    ent_loaded *loaded;
    unsigned char *state; /* of what references mean: 0 not made, 1 being made, 2 made */
    uint64_t lately[ENT_LATELY];
} ent_session;

ent_cell ent_cell_at(const ent_session *s, uint64_t number);

/* altstring.c */
void ent_init_altstring(DllInfo *dll);
SEXP ent_lazy_strings(ent_text *text);
SEXP ent_lazy_slice(SEXP x, R_xlen_t at, R_xlen_t n);
SEXP ent_eager_strings(ent_text *text, const unsigned char *kept);
int ent_mark_strings(SEXP strings, const unsigned char *kept);

/* .Call */
SEXP ent_c_strings(SEXP x);
SEXP ent_c_kept(SEXP strings, SEXP n);
SEXP ent_c_na_kind(SEXP x);
SEXP ent_c_exact_unit(SEXP x, SEXP scale);
SEXP ent_c_frame(SEXP n_rows, SEXP columns, SEXP extra, SEXP host);
SEXP ent_c_write(SEXP path, SEXP frames, SEXP cells, SEXP roots, SEXP compress);
SEXP ent_c_walker(SEXP hook);
SEXP ent_c_walk(SEXP walker, SEXP x);
SEXP ent_c_walk_place(SEXP walker);
SEXP ent_c_references(SEXP walker, SEXP numbers);
SEXP ent_c_bindings(SEXP env, SEXP names);
SEXP ent_c_dots(SEXP env, SEXP from);
SEXP ent_c_open(SEXP path);
SEXP ent_c_table(SEXP file, SEXP number);
SEXP ent_c_is_open(SEXP file);
SEXP ent_c_facts(SEXP file);
SEXP ent_c_host(SEXP file);
SEXP ent_c_describe(SEXP file, SEXP numbers);
SEXP ent_c_read(SEXP file, SEXP plan, SEXP rows);
SEXP ent_c_load(SEXP file);
SEXP ent_c_close(SEXP loaded, SEXP start, SEXP end);
SEXP ent_c_pools(SEXP loaded, SEXP vectors);
SEXP ent_c_look(SEXP file, SEXP number);
SEXP ent_c_split(SEXP x, SEXP starts, SEXP lengths);
SEXP ent_c_make(SEXP loaded, SEXP range, SEXP hook);
SEXP ent_c_verify(SEXP path);
SEXP ent_c_threads(SEXP n);
SEXP ent_c_compress(SEXP x, SEXP codec, SEXP level);
SEXP ent_c_decompress(SEXP x, SEXP max_len);
SEXP ent_c_hash(SEXP x, SEXP seed);
SEXP ent_c_materialised(SEXP x);
SEXP ent_c_decorate(SEXP x, SEXP attributes, SEXP s4);

#endif
