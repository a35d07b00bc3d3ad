/* Walks a tree of R values and writes its cells.
 *
 * The children of a value are added together, then the children of each of them, in order, on an
 * explicit stack: deep nesting does not use the program's stack. R code (`take_apart` in
 * R/write_tree.R) handles other values. It gets each value in a list, so that language is never
 * evaluated. The walker keeps all values alive until the file is written.
 */
#include "walker.h"

#define DEEPEST 1000

/* Adds the children of a cell. */
static void expand(walker *w, step_t step) {
    if (step.at.depth >= DEEPEST) {
        w->here = step.at;
        SEXP deep = PROTECT(Rf_mkString("too deep"));
        Rf_eval(PROTECT(Rf_lang3(w->hook, R_NilValue, deep)), R_GlobalEnv);
        Rf_error("nested too deep");
    }
    w->path = ent_reserve(w->path, &w->room_path, w->n_path + 1, sizeof *w->path);
    w->path[w->n_path] = step;
    at_t at = {(int)w->n_path++, step.at.depth + 1, 0};
    uint64_t first = ent_cells_n(w->cells), keys = 0;
    uint64_t count = ent_write_children(w, &step, at, &keys);
    ent_cells_children(w->cells, step.parent, first, count, keys);
}

/* Adds a tree, and returns the number of its cell. */
SEXP ent_c_walk(SEXP pointer, SEXP x) {
    walker *w = ent_pointer_of(pointer, "a tree of values");
    double number = (double)ent_cells_n(w->cells);
    at_t at = {-1, 1, 0};
    w->n_stack = w->n_found = w->n_path = 0;
    w->previous = NULL;
    ent_walk_keep(w, x);
    ent_write_cell(w, x, at, 0);
    size_t steps = 0;
    for (;;) {
        /* Deferred children are added in order. */
        w->stack = ent_reserve(w->stack, &w->room_stack, w->n_stack + w->n_found, sizeof *w->stack);
        while (w->n_found > 0) w->stack[w->n_stack++] = w->found[--w->n_found];
        if (w->n_stack == 0) break;
        step_t *top = &w->stack[w->n_stack - 1];
        if (top->below == BELOW_END) {
            ent_cells_end(w->cells, top->parent);
            w->n_stack--;
            w->n_path--;
            continue;
        }
        step_t step = *top;
        if (step.below == BELOW_NEIGHBOURS) {
            /* Objects with the attributes of the previous one, then a single object. */
            R_xlen_t done = step.at.depth < DEEPEST ? ent_write_like_previous(w, &step) : 0;
            if (done == 0) {
                ent_defer(w, BELOW_VECTOR, VECTOR_ELT(step.object, step.at.position), step.at, step.parent, 0);
                done = 1;
            }
            top->at.position += done;
            top->parent += (size_t)done;
            top->n_left -= done;
            if (top->n_left == 0) w->n_stack--;
        } else {
            top->below = BELOW_END;
            expand(w, step);
        }
        if (++steps % 4096 == 0) R_CheckUserInterrupt();
    }
    return Rf_ScalarReal(number);
}

/* Adds a list of references to cells, and returns the number of its cell. */
SEXP ent_c_references(SEXP pointer, SEXP numbers) {
    walker *w = ent_pointer_of(pointer, "a tree of values");
    uint64_t number = ent_cells_n(w->cells);
    size_t parent = ent_put_parents(w, ENT_CELL_LIST, 1);
    R_xlen_t n = Rf_xlength(numbers);
    for (R_xlen_t i = 0; i < n; i++) ent_put_reference(w, (uint64_t)REAL(numbers)[i]);
    ent_cells_children(w->cells, parent, number + 1, (uint64_t)n, 0);
    ent_cells_end(w->cells, parent);
    return Rf_ScalarReal((double)number);
}

/* For error messages, the path to the walker's value: the kind, position and name of each step. */
SEXP ent_c_walk_steps(SEXP pointer) {
    static const char *fields[] = {"below", "position", "name", ""};
    walker *w = ent_pointer_of(pointer, "a tree of values");
    R_xlen_t n = 0;
    for (int up = w->here.up; up >= 0; up = w->path[up].at.up) n++;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP below = Rf_allocVector(INTSXP, n);
    SET_VECTOR_ELT(out, 0, below);
    SEXP position = Rf_allocVector(REALSXP, n);
    SET_VECTOR_ELT(out, 1, position);
    SEXP names = Rf_allocVector(STRSXP, n);
    SET_VECTOR_ELT(out, 2, names);
    at_t at = w->here;
    for (R_xlen_t i = n - 1; i >= 0; i--) {
        step_t *step = &w->path[at.up];
        INTEGER(below)[i] = step->below == BELOW_ATTRIBUTES && TYPEOF(step->object) == S4SXP ? BELOW_S4 : step->below;
        REAL(position)[i] = (double)at.position;
        SET_STRING_ELT(names, i, NA_STRING);
        if (step->below == BELOW_ATTRIBUTES) {
            const void *top = vmaxget();
            ent_attributes attributes;
            ent_collect_attributes(step->object, &attributes);
            R_xlen_t k = 0;
            for (size_t j = 0; j < attributes.n; j++) {
                SEXP name = attributes.all[j].name;
                if (!ent_is_internal(name) && k++ == at.position) SET_STRING_ELT(names, i, PRINTNAME(name));
            }
            vmaxset(top);
        } else if (step->below == BELOW_LIST || step->below == BELOW_MAP || step->below == BELOW_PARTS) {
            SEXP of = Rf_getAttrib(step->object, R_NamesSymbol);
            if (TYPEOF(of) == STRSXP && at.position < Rf_xlength(of))
                SET_STRING_ELT(names, i, STRING_ELT(of, at.position));
        }
        at = step->at;
    }
    UNPROTECT(1);
    return out;
}
