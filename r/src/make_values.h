/* Shared by the files that build values of R from cells. */
#ifndef MAKE_H
#define MAKE_H

#include "values.h"

/* Kinds of unfinished values besides the kinds of cells: a vector with attributes, and its
 * attributes. */
#define KIND_VECTOR 256
#define KIND_ATTRIBUTES 257

/* A value whose parts are being built. */
typedef struct {
    uint64_t number, first, count, keys, next;
    int kind;
    SEXP items, names;
    R_xlen_t target; /* its position among the targets of references, or -1 */
} unfinished_t;

typedef struct {
    ent_session *s;
    SEXP made, pools, recent, hook;
    SEXP held; /* protects the values that the result does not contain yet, one per unfinished value */
    PROTECT_INDEX held_at;
    unfinished_t *unfinished;
    int n, room;
} maker;

SEXP ent_make_ask(maker *m, const char *what, SEXP parts);
SEXP ent_make_ask_one(maker *m, ent_chars kind, SEXP part);
SEXP ent_make_whole(maker *m, int64_t integer);
SEXP ent_make_string(maker *m, ent_chars text);
SEXP ent_make_array(maker *m, const ent_cell *cell);
SEXP ent_make_names(maker *m, const unfinished_t *open);
SEXP ent_make_slice(SEXP x, R_xlen_t at, R_xlen_t n);
SEXP ent_make_numbers(SEXPTYPE type, const char *from, size_t width, R_xlen_t n);
void ent_make_attribute(SEXP x, SEXP name, SEXP value);
SEXP ent_make_decorated(maker *m, SEXP value);
SEXP ent_make_finished(maker *m, const unfinished_t *open);

/* path.c */
SEXP ent_make_path(const maker *m);

/* small_vectors_read.c */
int ent_make_small_vectors(maker *m, uint64_t number, int is_object);

#endif
