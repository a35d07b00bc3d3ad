/* The state of a walk over R values. */
#include "walker.h"

static void free_walker(SEXP pointer) {
    walker *w = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (w == NULL) return;
    ent_key_sets_free(&w->key_sets);
    ent_shared_vectors_free(&w->shared);
    ent_repeats_free(&w->symbols);
    ent_repeats_free(&w->calls);
    ent_repeats_free(&w->attributes);
    free(w->stack);
    free(w->found);
    free(w->path);
    if (w->cells != NULL) ent_cells_free(w->cells);
    free(w);
}

/* Returns memory with room for `needed` entries of `width` bytes: `memory`, or a larger copy. */
void *ent_reserve(void *memory, size_t *room, size_t needed, size_t width) {
    if (needed <= *room) return memory;
    size_t more = *room < 64 ? 64 : *room;
    while (more < needed) more *= 2;
    void *grown = realloc(memory, more * width);
    if (grown == NULL) ent_no_memory(more * width, "the values of a tree");
    *room = more;
    return grown;
}

/* Keeps a value alive as long as the walker. */
void ent_walk_keep(walker *w, SEXP value) {
    R_SetExternalPtrProtected(w->self, Rf_cons(value, R_ExternalPtrProtected(w->self)));
}

/* Defers the children of a cell. */
void ent_defer(walker *w, int below, SEXP object, at_t at, size_t parent, R_xlen_t n_left) {
    w->found = ent_reserve(w->found, &w->room_found, w->n_found + 1, sizeof *w->found);
    w->found[w->n_found++] = (step_t){below, at, object, parent, n_left};
}

/* A walker with its hook, the R function for values that are not handled here. */
SEXP ent_c_walker(SEXP hook) {
    ent_failure *failure = NULL;
    walker *w = calloc(1, sizeof *w);
    if (w == NULL) ent_no_memory(sizeof *w, "the values of a tree");
    SEXP pointer = PROTECT(ent_hold(w, free_walker, R_NilValue));
    w->self = pointer;
    w->hook = hook;
    ent_walk_keep(w, hook);
    w->cells = ent_cells_new(&failure);
    UNPROTECT(1);
    return w->cells == NULL ? ent_failed(failure) : pointer;
}

/* The cells of a walker; NULL for NULL. */
ent_cells *ent_walked(SEXP pointer) {
    return pointer == R_NilValue ? NULL : ((walker *)ent_pointer_of(pointer, "a tree of values"))->cells;
}
