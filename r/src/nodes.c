/* Converts values of host maps from R to nodes and back.
 *
 * The values are NULL, TRUE, FALSE, single integers, doubles and strings, raw vectors, lists and
 * named lists. A column is a double of class `entasis_column`, a cell a double of class
 * `entasis_cell`. NA is null. R/encode_values.R converts all other values to these. Attributes of
 * columns have lists of their own classes: see attribute_nodes_write.c and host_map_read.c.
 */
#include "values.h"

static size_t count(SEXP value, int depth) {
    if (depth > 100) Rf_error("a value is nested deeper than 100");
    if (TYPEOF(value) != VECSXP) return 1;
    if (Rf_inherits(value, "entasis_attributes")) return ent_count_plain(value);
    R_xlen_t n = Rf_xlength(value);
    size_t total = 1;
    if (Rf_getAttrib(value, R_NamesSymbol) != R_NilValue) total += (size_t)n;
    for (R_xlen_t i = 0; i < n; i++) total += count(VECTOR_ELT(value, i), depth + 1);
    return total;
}

static ent_node *put_string(SEXP string, ent_node *at) {
    if (string == NA_STRING) return at + 1;
    at->kind = ENT_STRING;
    at->text = ent_chars_of(string);
    return at + 1;
}

static ent_node *put(SEXP value, ent_node *at) {
    memset(at, 0, sizeof *at);
    if (TYPEOF(value) == VECSXP) {
        if (Rf_inherits(value, "entasis_attributes")) return ent_put_plain(value, at);
        SEXP names = Rf_getAttrib(value, R_NamesSymbol);
        R_xlen_t n = Rf_xlength(value);
        if (n > INT_MAX) Rf_error("a list is too long");
        at->kind = names == R_NilValue ? ENT_LIST : ENT_MAP;
        at->n = (int)n;
        at++;
        for (R_xlen_t i = 0; i < n; i++) {
            if (names != R_NilValue) {
                memset(at, 0, sizeof *at);
                at = put_string(STRING_ELT(names, i), at);
            }
            at = put(VECTOR_ELT(value, i), at);
        }
        return at;
    }
    if (TYPEOF(value) == RAWSXP) {
        at->kind = ENT_BYTES;
        at->text.start = (const char *)RAW(value);
        at->text.len = (size_t)Rf_xlength(value);
        return at + 1;
    }
    if (value == R_NilValue) return at + 1;
    if (Rf_xlength(value) != 1) Rf_error("a value of a tree has length %d", (int)Rf_length(value));
    switch (TYPEOF(value)) {
    case LGLSXP:
        if (LOGICAL(value)[0] != NA_LOGICAL) at->kind = LOGICAL(value)[0] ? ENT_TRUE : ENT_FALSE;
        return at + 1;
    case INTSXP:
        if (INTEGER(value)[0] != NA_INTEGER) {
            at->kind = ENT_INTEGER;
            at->integer = INTEGER(value)[0];
        }
        return at + 1;
    case REALSXP:
        if (Rf_inherits(value, "entasis_column") || Rf_inherits(value, "entasis_cell")) {
            at->kind = Rf_inherits(value, "entasis_cell") ? ENT_CELL : ENT_COLUMN;
            at->integer = (int64_t)REAL(value)[0];
        } else {
            at->kind = ENT_FLOAT;
            memcpy(&at->number, REAL(value), sizeof(double));
        }
        return at + 1;
    case STRSXP: return put_string(STRING_ELT(value, 0), at);
    default: Rf_error("a value of type %s is in a tree", Rf_type2char(TYPEOF(value)));
    }
}

static void free_nodes(SEXP pointer) {
    free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

/* The nodes of a value. `ent_nodes_free`, or R's collection of the returned pointer, frees their
 * memory. A vector would stay until R collects garbage. Texts point into the value. */
SEXP ent_to_nodes(SEXP value, const ent_node **nodes, size_t *n) {
    size_t room = count(value, 0);
    ent_node *start = malloc(room * sizeof *start);
    if (start == NULL) ent_no_memory(room * sizeof *start, "the metadata");
    SEXP memory = PROTECT(ent_hold(start, free_nodes, R_NilValue));
    *nodes = start;
    *n = (size_t)(put(value, start) - start);
    UNPROTECT(1);
    return memory;
}

void ent_nodes_free(SEXP memory) { free_nodes(memory); }

/* The list with names for a map of `n` pairs. */
SEXP ent_take_map(const ent_node **at, const ent_node *end, int n,
                  SEXP (*take_value)(SEXP key, const ent_node **at, const ent_node *end)) {
    SEXP value = PROTECT(Rf_allocVector(VECSXP, n));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++) {
        SEXP key = PROTECT(ent_take(at, end));
        /* R code never asks for keys other than strings. */
        SET_STRING_ELT(names, i, TYPEOF(key) == STRSXP ? STRING_ELT(key, 0) : R_BlankString);
        SET_VECTOR_ELT(value, i, take_value(STRING_ELT(names, i), at, end));
        UNPROTECT(1);
    }
    Rf_setAttrib(value, R_NamesSymbol, names);
    UNPROTECT(2);
    return value;
}

static SEXP take_any(SEXP key, const ent_node **at, const ent_node *end) {
    (void)key;
    return ent_take(at, end);
}

/* The value of a node and its children, and the first node after them. */
SEXP ent_take(const ent_node **at, const ent_node *end) {
    if (*at >= end) Rf_error("a tree without an end");
    const ent_node *node = (*at)++;
    switch (node->kind) {
    case ENT_NULL: return R_NilValue;
    case ENT_FALSE:
    case ENT_TRUE: return Rf_ScalarLogical(node->kind == ENT_TRUE);
    case ENT_INTEGER:
        if (node->integer > INT_MIN && node->integer <= INT_MAX) return Rf_ScalarInteger((int)node->integer);
        return Rf_ScalarReal((double)node->integer);
    case ENT_FLOAT: {
        SEXP value = Rf_allocVector(REALSXP, 1);
        memcpy(REAL(value), &node->number, sizeof(double));
        return value;
    }
    case ENT_STRING:
        if (memchr(node->text.start, 0, node->text.len) != NULL) return R_NilValue;
        return Rf_ScalarString(ent_char(node->text));
    case ENT_BYTES: {
        SEXP value = Rf_allocVector(RAWSXP, (R_xlen_t)node->text.len);
        if (node->text.len > 0) memcpy(RAW(value), node->text.start, node->text.len);
        return value;
    }
    case ENT_COLUMN:
    case ENT_CELL:
    case ENT_TABLE: {
        static const char *const classes[] = {"entasis_column", "entasis_table_number", "", "entasis_cell"};
        SEXP value = PROTECT(Rf_ScalarReal((double)node->integer));
        Rf_setAttrib(value, R_ClassSymbol, Rf_mkString(classes[node->kind - ENT_COLUMN]));
        UNPROTECT(1);
        return value;
    }
    case ENT_LIST: {
        SEXP value = PROTECT(Rf_allocVector(VECSXP, node->n));
        for (int i = 0; i < node->n; i++) SET_VECTOR_ELT(value, i, ent_take(at, end));
        UNPROTECT(1);
        return value;
    }
    case ENT_MAP: return ent_take_map(at, end, node->n, take_any);
    default: Rf_error("a node of kind %d", node->kind);
    }
}
