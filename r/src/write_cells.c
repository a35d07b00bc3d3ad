/* Writes the cells of R's values: first a value's own cell, then its children when the walk reaches
 * it. */
#include "walker.h"

/* Whether a string is ASCII, or valid UTF-8 that is marked as UTF-8. */
static int is_plain(SEXP string) {
    if (string == NA_STRING) return 0;
    cetype_t mark = Rf_getCharCE(string);
    if (mark == CE_UTF8) return ent_is_utf8(ent_chars_of(string));
    if (mark != CE_NATIVE) return 0;
    const char *bytes = CHAR(string);
    for (int i = 0, n = LENGTH(string); i < n; i++) {
        if ((unsigned char)bytes[i] >= 0x80) return 0;
    }
    return 1;
}

/* Adds a vector of length 1 as a scalar. Returns 0 and adds nothing if its value is
 * missing or needs an array. */
static int single(walker *w, SEXP x) {
    switch (TYPEOF(x)) {
    case LGLSXP:
        if (LOGICAL_ELT(x, 0) == NA_LOGICAL) return 0;
        ent_put_scalar(w, LOGICAL_ELT(x, 0) ? ENT_CELL_TRUE : ENT_CELL_FALSE, 0, 0);
        return 1;
    case INTSXP:
        if (INTEGER_ELT(x, 0) == NA_INTEGER) return 0;
        ent_put_scalar(w, ENT_CELL_INT, INTEGER_ELT(x, 0), 0);
        return 1;
    case REALSXP: ent_put_scalar(w, ENT_CELL_FLOAT, 0, REAL_ELT(x, 0)); return 1;
    case STRSXP: return is_plain(STRING_ELT(x, 0)) && ent_put_text(w, STRING_ELT(x, 0));
    default: return 0;
    }
}

/* Adds strings, as an array or an object. */
static void strings(walker *w, SEXP x, SEXP dim, at_t at) {
    R_xlen_t n = Rf_xlength(x);
    ent_failure *failure = NULL;
    ent_pooled pooled;
    ent_strings *collected = ent_cells_strings(w->cells, (size_t)n, &pooled, &failure);
    if (collected == NULL || !ent_collect(collected, x, 0, n, &failure)) ent_fail(failure);
    const unsigned char *encodings = ent_strings_encodings(collected, pooled.at);
    if (encodings == NULL) ent_put_array(w, pooled, dim == R_NilValue ? NULL : INTEGER(dim), (size_t)Rf_xlength(dim));
    else ent_put_encoded(w, encodings, pooled, dim, at);
}

/* Adds an atomic vector without attributes other than `dim`, which may be NULL. */
static void atomic(walker *w, SEXP x, SEXP dim, at_t at) {
    R_xlen_t n = Rf_xlength(x);
    if (n == 1 && dim == R_NilValue && single(w, x)) return;
    if (TYPEOF(x) == STRSXP) {
        strings(w, x, dim, at);
    } else {
        const int *dims = dim == R_NilValue ? NULL : INTEGER(dim);
        ent_put_array(w, ent_put_numbers(w, ent_vector_kind(x), DATAPTR_RO(x), n), dims, (size_t)Rf_xlength(dim));
    }
}

/* Whether names can be keys in other hosts: distinct strings in UTF-8. */
static int has_plain_names(walker *w, SEXP names, R_xlen_t n) {
    if (TYPEOF(names) != STRSXP || ANY_ATTRIB(names) || Rf_xlength(names) != n) return 0;
    SEXP *keys = (SEXP *)STRING_PTR_RO(names);
    uint64_t first;
    if (ent_key_sets_find(&w->key_sets, keys, n, &first)) return 1;
    for (R_xlen_t i = 0; i < n; i++) {
        if (!is_plain(keys[i])) return 0;
    }
    return ent_keys_are_distinct(keys, n);
}

/* Reports a value that can't be stored. */
static void refuse(walker *w, at_t at, const char *why) {
    w->here = at;
    SEXP reason = PROTECT(Rf_mkString(why));
    Rf_eval(PROTECT(Rf_lang3(w->hook, R_NilValue, reason)), R_GlobalEnv);
    Rf_error("%s", why);
}

/* Asks R code about a value. The value is in a list, so that a function is not taken for code. R
 * code sees only the type of values that it might evaluate. */
static void ask_about(walker *w, SEXP x, at_t at, const char *what) {
    w->here = at;
    int type = TYPEOF(x);
    int is_seen =
        type == ENVSXP || type == CLOSXP || type == BUILTINSXP || type == SPECIALSXP || type == VECSXP || type == S4SXP;
    SEXP holder = PROTECT(Rf_allocVector(VECSXP, 1));
    SET_VECTOR_ELT(holder, 0, is_seen ? x : R_NilValue);
    SEXP call = PROTECT(Rf_lang3(w->hook, holder, PROTECT(Rf_mkString(what))));
    SEXP parts = PROTECT(Rf_eval(call, R_GlobalEnv));
    if (TYPEOF(parts) == REALSXP) {
        ent_put_scalar(w, ENT_CELL_TABLE, (int64_t)Rf_asReal(parts), 0);
    } else if (TYPEOF(parts) == VECSXP) {
        ent_walk_keep(w, parts);
        ent_put_object(w, BELOW_PARTS, parts, at);
    } else if (ent_is_delayed(x)) {
        ent_put_object(w, BELOW_PROMISE, x, at);
    } else if (type == EXTPTRSXP || type == WEAKREFSXP) {
        ent_put_object(w, BELOW_POINTER, x, at);
    } else if (type == S4SXP) {
        ent_put_object(w, BELOW_S4, x, at);
    } else {
        ent_put_object(w, BELOW_VECTOR, x, at);
    }
    UNPROTECT(4);
}

static void ask(walker *w, SEXP x, at_t at) {
    int is_lazy = TYPEOF(x) == EXTPTRSXP && (Rf_inherits(x, "entasis_table") || Rf_inherits(x, "entasis_tree"));
    ask_about(w, x, at, is_lazy ? "lazy" : ent_is_delayed(x) ? "promise" : Rf_type2char(TYPEOF(x)));
}

static void write_atomic(walker *w, SEXP x, at_t at, int is_bare) {
    if (is_bare) atomic(w, x, R_NilValue, at);
    else if (ent_is_matrix(x)) atomic(w, x, ent_only_attribute(x, R_DimSymbol), at);
    else ent_put_object(w, BELOW_VECTOR, x, at);
}

static void write_list(walker *w, SEXP x, at_t at, int is_bare) {
    if (is_bare) {
        ent_put_parent(w, ENT_CELL_LIST, BELOW_LIST, x, at);
        return;
    }
    SEXP names = Rf_isS4(x) ? NULL : ent_only_attribute(x, R_NamesSymbol);
    if (names != NULL && has_plain_names(w, names, Rf_xlength(x))) {
        ent_put_parent(w, ENT_CELL_MAP, BELOW_MAP, x, at);
    } else if (Rf_inherits(x, "data.frame") || Rf_inherits(x, "family")) {
        ask(w, x, at);
    } else if (ent_is_shell(x)) {
        ask_about(w, x, at, "shell");
    } else {
        ent_put_object(w, BELOW_VECTOR, x, at);
    }
}

/* Adds a reference if the tree has an equal value. `number` is the cell of that value, or else of
 * the next one, which the caller adds. */
static int write_repeat(walker *w, ent_repeats *table, SEXP x, uint64_t *number) {
    *number = ent_cells_n(w->cells);
    if (!ent_repeats_find(table, x, number)) return 0;
    ent_put_reference(w, *number);
    return 1;
}

/* Adds a temporary value, which the walker keeps alive. */
static void write_temporary(walker *w, SEXP x, at_t at) {
    PROTECT(x);
    ent_walk_keep(w, x);
    ent_write_cell(w, x, at, 0);
    UNPROTECT(1);
}

/* Adds an external pointer. One that occurs twice is stored once, because the identity of a pointer
 * is all that its package compares. */
static void write_pointer(walker *w, SEXP x, at_t at) {
    uint64_t number = ent_cells_n(w->cells);
    if (ent_is_delayed(x) || !ent_shared_objects_find(&w->shared, x, &number)) {
        if (R_ExternalPtrAddr(x) == NULL) ent_put_object(w, BELOW_POINTER, x, at);
        else ask(w, x, at);
        return;
    }
    for (int up = at.up; up >= 0; up = w->path[up].at.up) {
        if (w->path[up].object == x) refuse(w, at, "endless pointer");
    }
    ent_put_reference(w, number);
}

/* Adds the cell of a value. With `is_bare`, its attributes are stored elsewhere. */
void ent_write_cell(walker *w, SEXP x, at_t at, int is_bare) {
    int is_whole = !is_bare;
    is_bare = is_bare || (!ANY_ATTRIB(x) && !Rf_isS4(x));
    switch (TYPEOF(x)) {
    case NILSXP: ent_put_scalar(w, ENT_CELL_NULL, 0, 0); return;
    case LGLSXP:
    case INTSXP:
    case REALSXP:
    case CPLXSXP:
    case RAWSXP:
    case STRSXP: {
        uint64_t number = ent_cells_n(w->cells);
        if (is_whole && ent_shared_vectors_find(&w->shared, x, &number)) {
            ent_put_reference(w, number);
        } else {
            write_atomic(w, x, at, is_bare);
        }
        return;
    }
    case VECSXP: write_list(w, x, at, is_bare); return;
    case SYMSXP: {
        uint64_t number;
        if (!write_repeat(w, &w->symbols, x, &number)) ent_put_object(w, BELOW_SYMBOL, x, at);
        return;
    }
    case LANGSXP:
    case LISTSXP: {
        uint64_t number;
        if (!write_repeat(w, &w->calls, x, &number)) ent_put_object(w, BELOW_CALL, x, at);
        return;
    }
    case DOTSXP: ent_put_object(w, BELOW_CALL, x, at); return;
    case EXPRSXP: ent_put_object(w, BELOW_EXPRESSION, x, at); return;
    case S4SXP:
        if (ent_is_shell(x)) ask_about(w, x, at, "shell");
        else ent_put_object(w, BELOW_S4, x, at);
        return;
    case EXTPTRSXP: write_pointer(w, x, at); return;
    case PROMSXP: write_temporary(w, ent_promise(x), at); return;
    default: ask(w, x, at);
    }
}

/* The cell of a map's first key. Adds the keys unless another map has the same keys. */
static uint64_t write_keys(walker *w, SEXP *keys, R_xlen_t n) {
    if (n == 0) return 0;
    uint64_t first;
    if (ent_key_sets_find(&w->key_sets, keys, n, &first)) return first;
    first = ent_cells_n(w->cells);
    for (R_xlen_t i = 0; i < n; i++) {
        if (!ent_put_text(w, keys[i])) Rf_error("a name is not UTF-8");
    }
    ent_key_sets_add(&w->key_sets, keys, n, first);
    return first;
}

/* Whether to leave out an attribute: data.table keeps the address of its memory in one. */
int ent_is_internal(SEXP tag) {
    static SEXP internal;
    if (internal == NULL) internal = Rf_install(".internal.selfref");
    return tag == internal;
}

static int has_attributes_of(SEXP x, SEXP other) {
    const void *top = vmaxget();
    ent_attributes others;
    ent_collect_attributes(other, &others);
    int has = ent_has_attributes(x, &others, ent_are_equal);
    vmaxset(top);
    return has;
}

/* Adds a map of attributes, or NULL without attributes. Neighbouring vectors mostly have the same
 * ones, so the previous attributes are compared first. Equal attributes anywhere in the tree become
 * a reference. */
static void write_attributes(walker *w, SEXP x, at_t at) {
    if (!ANY_ATTRIB(x)) {
        ent_put_scalar(w, ENT_CELL_NULL, 0, 0);
    } else if (Rf_isVectorAtomic(x) && w->previous != NULL && has_attributes_of(x, w->previous)) {
        ent_put_reference(w, w->previous_attributes);
    } else {
        uint64_t number = ent_cells_n(w->cells);
        int is_known = ent_repeats_find_attributes(&w->attributes, x, &number);
        if (is_known) ent_put_reference(w, number);
        w->previous = Rf_isVectorAtomic(x) ? x : NULL;
        w->previous_attributes = number;
        if (!is_known) ent_put_parent(w, ENT_CELL_MAP, BELOW_ATTRIBUTES, x, at);
    }
}

static uint64_t below_attributes(walker *w, SEXP x, at_t at, uint64_t *keys) {
    const void *top = vmaxget();
    ent_attributes attributes;
    ent_collect_attributes(x, &attributes);
    SEXP *names = (SEXP *)R_alloc(attributes.n, sizeof *names);
    R_xlen_t n = 0;
    for (size_t i = 0; i < attributes.n; i++) {
        ent_attribute one = attributes.all[i];
        if (ent_is_internal(one.name)) continue;
        at.position = n;
        names[n++] = PRINTNAME(one.name);
        ent_write_cell(w, one.value, at, 0);
    }
    *keys = write_keys(w, names, n);
    vmaxset(top);
    return (uint64_t)n;
}

static uint64_t below_call(walker *w, SEXP x, at_t at) {
    ent_put_name(w, TYPEOF(x) == LANGSXP ? "r.call" : TYPEOF(x) == DOTSXP ? "r.dots" : "r.pairlist");
    at.position = -1;
    write_attributes(w, x, at);
    R_xlen_t n = 0;
    int tagged = 0;
    SEXP items = x;
    if (TYPEOF(x) == DOTSXP) {
        items = PROTECT(ent_dots(x));
        ent_walk_keep(w, items);
        UNPROTECT(1);
    }
    for (SEXP node = items; node != R_NilValue; node = CDR(node), n++) {
        if (TYPEOF(node) != LANGSXP && TYPEOF(node) != LISTSXP) Rf_error("a pairlist without an end");
        tagged |= TAG(node) != R_NilValue;
    }
    if (tagged) {
        SEXP tags = PROTECT(Rf_allocVector(STRSXP, n));
        R_xlen_t i = 0;
        for (SEXP node = items; node != R_NilValue; node = CDR(node), i++) {
            SET_STRING_ELT(tags, i, TAG(node) == R_NilValue ? R_BlankString : PRINTNAME(TAG(node)));
        }
        write_temporary(w, tags, at);
        UNPROTECT(1);
    } else {
        ent_put_scalar(w, ENT_CELL_NULL, 0, 0);
    }
    for (SEXP node = items; node != R_NilValue; node = CDR(node)) {
        at.position++;
        ent_write_cell(w, CAR(node), at, 0);
    }
    return 3 + (uint64_t)n;
}

static uint64_t below_text(walker *w, SEXP parts) {
    SEXP kept = VECTOR_ELT(parts, 0), dim = VECTOR_ELT(parts, 1);
    ent_pooled pooled;
    memcpy(&pooled, RAW(VECTOR_ELT(parts, 2)), sizeof pooled);
    ent_put_name(w, "r.text");
    ent_put_array(w, pooled, dim == R_NilValue ? NULL : INTEGER(dim), (size_t)Rf_xlength(dim));
    ent_put_array(w, ent_put_numbers(w, ENT_KIND_RAW, RAW(kept), Rf_xlength(kept)), NULL, 0);
    return 3;
}

/* A table costs as much as 10,000 values, so small frames in a long list become lists with
 * attributes. */
#define MANY 32
#define SMALL_FRAME 10000

static int is_small_frame(SEXP x) {
    if (TYPEOF(x) != VECSXP || !Rf_isObject(x) || Rf_xlength(x) == 0 || !Rf_inherits(x, "data.frame")) return 0;
    return (double)Rf_xlength(x) * (double)Rf_xlength(VECTOR_ELT(x, 0)) < SMALL_FRAME;
}

static uint64_t below_items(walker *w, SEXP x, at_t at) {
    R_xlen_t n = Rf_xlength(x), seen = 0;
    at.position = 0;
    while (at.position < n) {
        R_xlen_t done = ent_write_small_vectors(w, x, at);
        if (done == 0) {
            SEXP item = VECTOR_ELT(x, at.position);
            if (n >= MANY && is_small_frame(item)) ent_put_object(w, BELOW_VECTOR, item, at);
            else ent_write_cell(w, item, at, 0);
            done = 1;
        }
        at.position += done;
        if (at.position - seen > 1 << 20) {
            R_CheckUserInterrupt();
            seen = at.position;
        }
    }
    return (uint64_t)n;
}

/* Adds the children of a cell. Returns their number, and stores the cell of the first key. */
uint64_t ent_write_children(walker *w, const step_t *step, at_t at, uint64_t *keys) {
    SEXP x = step->object;
    switch (step->below) {
    case BELOW_CALL: return below_call(w, x, at);
    case BELOW_ATTRIBUTES: return below_attributes(w, x, at, keys);
    case BELOW_TEXT: return below_text(w, x);
    case BELOW_VECTOR:
        ent_put_name(w, "r.vector");
        ent_write_cell(w, x, at, 1);
        at.position = 1;
        write_attributes(w, x, at);
        if (!Rf_isS4(x)) return 3;
        ent_put_scalar(w, ENT_CELL_TRUE, 0, 0);
        return 4;
    case BELOW_SYMBOL: {
        ent_put_name(w, "r.symbol");
        SEXP string = PROTECT(Rf_ScalarString(x == R_MissingArg ? R_BlankString : PRINTNAME(x)));
        write_temporary(w, string, at);
        UNPROTECT(1);
        return 2;
    }
    case BELOW_S4:
    case BELOW_EXPRESSION:
        ent_put_name(w, step->below == BELOW_S4 ? "r.s4" : "r.expression");
        at.position = -1;
        write_attributes(w, x, at);
        return 2 + (step->below == BELOW_S4 ? 0 : below_items(w, x, at));
    case BELOW_PROMISE:
        ent_put_name(w, "r.promise");
        write_temporary(w, ent_delayed_expression(x), at);
        at.position = 1;
        ent_write_cell(w, ent_delayed_environment(x), at, 0);
        return 3;
    case BELOW_POINTER: {
        int has_data = ent_has_data(x);
        ent_put_name(w, has_data ? "r.data_pointer" : TYPEOF(x) == EXTPTRSXP ? "r.pointer" : "r.weakref");
        at.position = -1;
        write_attributes(w, x, at);
        if (!has_data) return 2;
        at.position = 0;
        ent_write_cell(w, R_ExternalPtrTag(x), at, 0);
        at.position = 1;
        ent_write_cell(w, R_ExternalPtrProtected(x), at, 0);
        return 4;
    }
    case BELOW_MAP: {
        uint64_t count = below_items(w, x, at);
        *keys = write_keys(w, (SEXP *)STRING_PTR_RO(ent_only_attribute(x, R_NamesSymbol)), (R_xlen_t)count);
        return count;
    }
    default: return below_items(w, x, at);
    }
}
