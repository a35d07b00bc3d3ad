/* Rows of a table for which a condition is true. */
#include "values.h"

static void free_rows(SEXP pointer) {
    ent_row_numbers *rows = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (rows != NULL) ent_row_numbers_take(rows, NULL);
}

/* The numbers of the rows, from 1 on, as doubles. */
SEXP ent_c_find_rows(SEXP file, SEXP condition) {
    ent_failure *failure = NULL;
    const ent_node *nodes;
    size_t n_nodes;
    const ent_file *opened = ent_pointer_of(file, "an open file");
    SEXP memory = PROTECT(ent_to_nodes(condition, &nodes, &n_nodes));
    ent_watch();
    ent_row_numbers *rows = ent_find_rows(opened, nodes, n_nodes, ent_is_interrupted, &failure);
    ent_watched();
    ent_nodes_free(memory);
    UNPROTECT(1);
    if (rows == NULL) return ent_failed(failure);
    SEXP pointer = PROTECT(ent_hold(rows, free_rows, R_NilValue));
    SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)ent_row_numbers_n(rows)));
    R_ClearExternalPtr(pointer);
    ent_row_numbers_take(rows, REAL(out));
    UNPROTECT(2);
    return out;
}

/* The number of the rows. */
SEXP ent_c_count_rows(SEXP file, SEXP condition) {
    ent_failure *failure = NULL;
    const ent_node *nodes;
    size_t n_nodes;
    const ent_file *opened = ent_pointer_of(file, "an open file");
    SEXP memory = PROTECT(ent_to_nodes(condition, &nodes, &n_nodes));
    ent_watch();
    double n = ent_count_rows(opened, nodes, n_nodes, ent_is_interrupted, &failure);
    ent_watched();
    ent_nodes_free(memory);
    UNPROTECT(1);
    return n < 0 ? ent_failed(failure) : Rf_ScalarReal(n);
}

/* The decision of statistics: the numbers of rows of the table, of rows that cannot pass, of rows
 * that all pass, and of rows whose values are tested. */
SEXP ent_c_plan_rows(SEXP file, SEXP condition) {
    static const char *names[] = {"rows", "pruned", "passed", "tested"};
    ent_failure *failure = NULL;
    const ent_node *nodes;
    size_t n_nodes;
    const ent_file *opened = ent_pointer_of(file, "an open file");
    SEXP memory = PROTECT(ent_to_nodes(condition, &nodes, &n_nodes));
    SEXP out = PROTECT(Rf_allocVector(REALSXP, 4));
    int is_done = ent_plan_rows(opened, nodes, n_nodes, REAL(out), &failure);
    ent_nodes_free(memory);
    SEXP labels = PROTECT(Rf_allocVector(STRSXP, 4));
    for (int i = 0; i < 4; i++) SET_STRING_ELT(labels, i, Rf_mkChar(names[i]));
    Rf_setAttrib(out, R_NamesSymbol, labels);
    UNPROTECT(3);
    return is_done ? out : ent_failed(failure);
}
