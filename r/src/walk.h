/* What the walk over R's values (walk.c) shares with what makes cells of them (emit.c). */
#ifndef WALK_H
#define WALK_H

#include "values.h"

/* What is below a cell. */
enum {
    BELOW_END,        /* nothing more */
    BELOW_LIST,       /* the items of a list */
    BELOW_MAP,        /* those, and its names */
    BELOW_PARTS,      /* the items of a list that R code made: a name, and parts */
    BELOW_VECTOR,     /* a vector, and its attributes */
    BELOW_ATTRIBUTES, /* values and names of attributes */
    BELOW_TEXT,       /* a list: strings, how they are kept, dimensions */
    BELOW_CALL,       /* attributes, tags, and the items of a call or pairlist */
    BELOW_EXPRESSION, /* attributes, and the items of an expression */
    BELOW_SYMBOL,
    BELOW_S4,
    BELOW_NEIGHBOURS, /* vectors and their attributes: items of a list from the position on, as many as are left */
    BELOW_PROMISE,    /* an expression and the environment it belongs to */
    BELOW_POINTER,    /* attributes of an external pointer or weak reference */
};

typedef struct {
    int up; /* the frame that it is below, or -1 */
    int depth;
    R_xlen_t position;
} at_t;

typedef struct {
    int below;
    at_t at;
    SEXP object;
    size_t place;
    R_xlen_t n_left; /* neighbours */
} step_t;

/* Arrays that grow. What they count is in use. */
typedef struct {
    ent_cells *cells;
    SEXP self, hook;
    step_t *stack, *fresh; /* what is to be looked at; what was met and is not on the stack yet */
    size_t n_stack, n_fresh, room_stack, room_fresh;
    step_t *frames; /* what is around the value that is being looked at */
    size_t n_frames, room_frames;
    ent_keys keys;
    ent_met met;
    ent_same symbols, calls, attributes; /* what was met of each */
    SEXP like; /* the vector whose attributes were added last, or NULL, and their cell */
    uint64_t like_number;
    at_t here;
} walker;

/* walk.c */
void *ent_grown(void *memory, size_t *room, size_t needed, size_t width);
void ent_walk_keep(walker *w, SEXP value);

/* emit.c */
void ent_emit(walker *w, SEXP x, at_t at, int is_bare);
uint64_t ent_emit_below(walker *w, const step_t *step, at_t at, uint64_t *keys);
void ent_emit_reference(walker *w, uint64_t number);
size_t ent_emit_parents(walker *w, int kind, size_t n);
void ent_emit_later(walker *w, int below, SEXP object, at_t at, size_t place, R_xlen_t n_left);
int ent_emit_are_same(SEXP a, SEXP b);
int ent_emit_is_matrix(SEXP x);
int ent_is_internal(SEXP tag);
int ent_emit_kind(SEXP x);
void ent_emit_odd(walker *w, const unsigned char *odd, ent_pooled pooled, SEXP dim, at_t at);

/* promise.c */
SEXP ent_promise(SEXP promise);
SEXP ent_dots(SEXP dots);
int ent_is_delayed(SEXP x);
SEXP ent_delayed_expression(SEXP delayed);
SEXP ent_delayed_environment(SEXP delayed);

/* neighbours.c */
R_xlen_t ent_emit_neighbours(walker *w, SEXP x, at_t at);
R_xlen_t ent_emit_like(walker *w, const step_t *step);

#endif
