/* Shared by the walk over R's values (walk.c) and the files that write their cells. */
#ifndef WALKER_H
#define WALKER_H

#include "values.h"

/* The kinds of children of a cell. */
enum {
    BELOW_END,        /* none left */
    BELOW_LIST,       /* the items of a list */
    BELOW_MAP,        /* the items and names of a list */
    BELOW_PARTS,      /* the name and parts of an object, a list that R code made */
    BELOW_VECTOR,     /* a vector, and its attributes */
    BELOW_ATTRIBUTES, /* values and names of attributes */
    BELOW_TEXT,       /* strings with their encodings and dimensions */
    BELOW_CALL,       /* attributes, tags, and the items of a call or pairlist */
    BELOW_EXPRESSION, /* attributes, and the items of an expression */
    BELOW_SYMBOL,
    BELOW_S4,
    BELOW_NEIGHBOURS, /* vectors and attributes: `n_left` items of a list from the position on */
    BELOW_PROMISE,    /* an expression and its environment */
    BELOW_POINTER,    /* attributes, tag and protected value of an external pointer or weak reference */
};

typedef struct {
    int up; /* the step above in `path`, or -1 */
    int depth;
    R_xlen_t position;
} at_t;

typedef struct {
    int below;
    at_t at;
    SEXP object;
    size_t parent; /* its number among cells that may have children */
    R_xlen_t n_left; /* of BELOW_NEIGHBOURS */
} step_t;

/* The state of a walk. Each array has `n` used entries and room for more. */
typedef struct {
    ent_cells *cells;
    SEXP self, hook;
    step_t *stack, *found; /* steps to do; steps found in the current one */
    size_t n_stack, n_found, room_stack, room_found;
    step_t *path; /* the steps to the current value */
    size_t n_path, room_path;
    ent_key_sets key_sets;
    ent_shared_vectors shared;
    ent_repeats symbols, calls, attributes;
    SEXP previous; /* the vector whose attributes were added last, or NULL */
    uint64_t previous_attributes; /* the cell of these attributes */
    at_t here;
} walker;

/* walker.c */
void *ent_reserve(void *memory, size_t *room, size_t needed, size_t width);
void ent_walk_keep(walker *w, SEXP value);
void ent_defer(walker *w, int below, SEXP object, at_t at, size_t parent, R_xlen_t n_left);

/* cells_put.c */
void ent_put_scalar(walker *w, int kind, int64_t integer, double number);
int ent_put_text(walker *w, SEXP string);
void ent_put_name(walker *w, const char *name);
void ent_put_array(walker *w, ent_pooled pooled, const int *dim, size_t n_dim);
ent_pooled ent_put_numbers(walker *w, int kind, const void *memory, R_xlen_t n);
void ent_put_reference(walker *w, uint64_t number);
size_t ent_put_parents(walker *w, int kind, size_t n);
void ent_put_parent(walker *w, int kind, int below, SEXP object, at_t at);
void ent_put_object(walker *w, int below, SEXP x, at_t at);
void ent_put_encoded(walker *w, const unsigned char *encodings, ent_pooled pooled, SEXP dim, at_t at);
int ent_vector_kind(SEXP x);
int ent_is_matrix(SEXP x);
int ent_are_equal(SEXP a, SEXP b);

/* small_vectors_write.c */
R_xlen_t ent_write_small_vectors(walker *w, SEXP x, at_t at);
R_xlen_t ent_write_like_previous(walker *w, const step_t *step);

/* write_cells.c */
void ent_write_cell(walker *w, SEXP x, at_t at, int is_bare);
uint64_t ent_write_children(walker *w, const step_t *step, at_t at, uint64_t *keys);
int ent_is_internal(SEXP tag);

/* promise.c */
SEXP ent_promise(SEXP promise);
SEXP ent_dots(SEXP dots);
int ent_is_delayed(SEXP x);
SEXP ent_delayed_expression(SEXP delayed);
SEXP ent_delayed_environment(SEXP delayed);

/* pointers.c */
int ent_has_data(SEXP x);
int ent_is_shell(SEXP x);

#endif
