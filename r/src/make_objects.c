/* Builds values of R from their parts: arrays, vectors with attributes, calls, rows. Nothing is
 * evaluated. */
#include "make_values.h"

/* Asks R code to build the value of a kind or name. */
SEXP ent_make_ask(maker *m, const char *what, SEXP parts) {
    SEXP name = PROTECT(Rf_mkString(what));
    SEXP holder = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(holder, 0, name);
    SET_VECTOR_ELT(holder, 1, parts);
    SEXP out = PROTECT(Rf_eval(PROTECT(Rf_lang2(m->hook, holder)), R_GlobalEnv));
    if (Rf_inherits(out, "entasis_refused")) {
        /* The error message needs the path. */
        SEXP value_and_path = PROTECT(Rf_allocVector(VECSXP, 2));
        SET_VECTOR_ELT(value_and_path, 0, out);
        SET_VECTOR_ELT(value_and_path, 1, ent_make_path(m));
        SET_VECTOR_ELT(holder, 0, Rf_mkString("refused"));
        SET_VECTOR_ELT(holder, 1, value_and_path);
        Rf_eval(PROTECT(Rf_lang2(m->hook, holder)), R_GlobalEnv);
        Rf_error("a value was refused");
    }
    UNPROTECT(4);
    return out;
}

SEXP ent_make_ask_one(maker *m, ent_chars kind, SEXP part) {
    char what[64];
    size_t len = kind.len < sizeof what - 1 ? kind.len : sizeof what - 1;
    memcpy(what, kind.start, len);
    what[len] = 0;
    PROTECT(part);
    SEXP parts = PROTECT(Rf_allocVector(VECSXP, 1));
    SET_VECTOR_ELT(parts, 0, part);
    SEXP out = ent_make_ask(m, what, parts);
    UNPROTECT(2);
    return out;
}

SEXP ent_make_string(maker *m, ent_chars text) {
    if (text.len > 0 && memchr(text.start, 0, text.len) != NULL) ent_make_ask(m, "zero character", R_NilValue);
    return ent_char(text);
}

/* An integer too wide for R becomes a double if exact; integer64 would need a package. */
SEXP ent_make_whole(maker *m, int64_t integer) {
    if (integer > INT_MIN && integer <= INT_MAX) return Rf_ScalarInteger((int)integer);
    /* integer64 uses the least integer for NA. */
    if (integer == INT64_MIN) return Rf_ScalarReal(-0x1p63);
    if (integer >= -(INT64_C(1) << 53) && integer <= INT64_C(1) << 53) return Rf_ScalarReal((double)integer);
    if (m->s->int64 == ENT_INT64_DOUBLE) {
        if (integer > INT64_MAX - 512 || (int64_t)(double)integer != integer) ent_make_ask(m, "rounded", R_NilValue);
        return Rf_ScalarReal((double)integer);
    }
    SEXP value = PROTECT(Rf_allocVector(REALSXP, 1));
    memcpy(REAL(value), &integer, sizeof integer);
    ent_make_attribute(value, Rf_mkChar("class"), Rf_mkString("integer64"));
    UNPROTECT(1);
    return value;
}

/* A range of a vector. */
SEXP ent_make_slice(SEXP x, R_xlen_t at, R_xlen_t n) {
    SEXP out = TYPEOF(x) == STRSXP ? ent_lazy_slice(x, at, n) : NULL;
    if (out != NULL) return out;
    out = PROTECT(Rf_allocVector(TYPEOF(x), n));
    if (TYPEOF(x) == STRSXP) {
        for (R_xlen_t i = 0; i < n; i++) SET_STRING_ELT(out, i, STRING_ELT(x, at + i));
    } else if (TYPEOF(x) == VECSXP) {
        for (R_xlen_t i = 0; i < n; i++) SET_VECTOR_ELT(out, i, VECTOR_ELT(x, at + i));
    } else if (n > 0) {
        size_t width = ent_type_width(TYPEOF(x));
        memcpy(ent_memory(out), (const char *)DATAPTR_RO(x) + (size_t)at * width, (size_t)n * width);
    }
    if (ANY_ATTRIB(x)) Rf_copyMostAttrib(x, out);
    UNPROTECT(1);
    return out;
}

/* A vector of numbers in memory. */
SEXP ent_make_numbers(SEXPTYPE type, const char *from, size_t width, R_xlen_t n) {
    SEXP out = Rf_allocVector(type, n);
    if (n > 0) memcpy(ent_memory(out), from, (size_t)n * width);
    return out;
}

/* A range of rows of a column, which may be a frame. */
static SEXP part_of(SEXP x, R_xlen_t at, R_xlen_t n) {
    if (TYPEOF(x) != VECSXP || !Rf_inherits(x, "data.frame")) {
        if (at > Rf_xlength(x) - n) ent_nonsense("a list extends beyond its values");
        return ent_make_slice(x, at, n);
    }
    SEXP out = PROTECT(Rf_allocVector(VECSXP, Rf_xlength(x)));
    for (R_xlen_t i = 0; i < Rf_xlength(x); i++) SET_VECTOR_ELT(out, i, part_of(VECTOR_ELT(x, i), at, n));
    Rf_setAttrib(out, R_NamesSymbol, Rf_getAttrib(x, R_NamesSymbol));
    Rf_setAttrib(out, R_ClassSymbol, Rf_getAttrib(x, R_ClassSymbol));
    SEXP rows = PROTECT(Rf_allocVector(INTSXP, 2));
    INTEGER(rows)[0] = NA_INTEGER;
    INTEGER(rows)[1] = -(int)n;
    Rf_setAttrib(out, R_RowNamesSymbol, rows);
    UNPROTECT(2);
    return out;
}

/* Pieces of a vector or frame, by starts and lengths; NULL where the length is NA. */
SEXP ent_c_split(SEXP x, SEXP starts, SEXP lengths) {
    R_xlen_t n = Rf_xlength(lengths);
    if (TYPEOF(starts) != REALSXP || TYPEOF(lengths) != INTSXP || Rf_xlength(starts) != n)
        ent_nonsense("pieces without places");
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        int length = INTEGER(lengths)[i];
        double start = REAL(starts)[i];
        if (length == NA_INTEGER) continue;
        if (length < 0 || !(start >= 0) || start > 0x1p52) ent_nonsense("a piece without a place");
        SET_VECTOR_ELT(out, i, part_of(x, (R_xlen_t)start, length));
        if ((i & 0xFFFFF) == 0xFFFFF) R_CheckUserInterrupt();
    }
    UNPROTECT(1);
    return out;
}

SEXP ent_make_array(maker *m, const ent_cell *cell) {
    size_t n;
    const ent_pool *pools = ent_loaded_pools(m->s->loaded, &n);
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pools[middle].pool < cell->of[0]) low = middle + 1;
        else high = middle;
    }
    if (low == n || pools[low].pool != cell->of[0]) ent_nonsense("an array without a pool");
    const ent_pool *pool = &pools[low];
    if (cell->of[1] < pool->start || cell->of[1] + cell->of[2] > pool->end)
        ent_nonsense("an array extends beyond its pool");
    SEXP out, all = VECTOR_ELT(m->pools, (R_xlen_t)low);
    uint64_t at = cell->of[1] - pool->start;
    if (pool->values != NULL) {
        size_t width = ent_kind_width(pool->kind);
        out = ent_make_numbers(ent_kind_type(pool->kind), (const char *)pool->values + at * width, width,
                               (R_xlen_t)cell->of[2]);
    } else {
        int is_all = pool->n == 1 && pool->end - pool->start == cell->of[2];
        out = is_all ? all : ent_make_slice(all, (R_xlen_t)at, (R_xlen_t)cell->of[2]);
    }
    /* A pool has values of several arrays, each with its own narrowest type. */
    if (m->s->int64 == ENT_INT64_FIT && Rf_inherits(out, "integer64")) out = ent_fitting(out);
    if (Rf_inherits(out, "integer64")) ent_note_class(Rf_getAttrib(out, R_ClassSymbol));
    if (cell->of[3] == 0) return out;
    ent_failure *failure = NULL;
    double shape[64];
    PROTECT(out);
    int n_dim = ent_loaded_shape(m->s->loaded, cell->of[3], cell->of[2], shape, &failure);
    if (n_dim < 0) ent_fail(failure);
    if (n_dim > 1) {
        SEXP dim = PROTECT(Rf_allocVector(INTSXP, n_dim));
        for (int k = 0; k < n_dim; k++) {
            if (shape[k] > INT_MAX) ent_no_counterpart("an array with an axis longer than 2^31 - 1");
            INTEGER(dim)[k] = (int)shape[k];
        }
        if (cell->kind == ENT_CELL_FORTRAN) {
            if (MAYBE_SHARED(out)) out = Rf_shallow_duplicate(out);
            PROTECT(out);
            ent_set_attribute(out, R_DimSymbol, dim);
            UNPROTECT(1);
        } else {
            SEXP parts = PROTECT(Rf_allocVector(VECSXP, 2));
            SET_VECTOR_ELT(parts, 0, out);
            SET_VECTOR_ELT(parts, 1, dim);
            out = ent_make_ask(m, "array by rows", parts);
            UNPROTECT(1);
        }
        UNPROTECT(1);
    }
    UNPROTECT(1);
    return out;
}

/* Sets an attribute unless it is NULL. */
void ent_make_attribute(SEXP x, SEXP name, SEXP value) {
    if (value == R_NilValue) return;
    if (LENGTH(name) == 0) ent_nonsense("an attribute has no name");
    SEXP symbol = Rf_installTrChar(name);
    if (TYPEOF(x) == S4SXP && symbol != R_ClassSymbol) {
        ent_set_slot(x, symbol, value);
    } else {
        ent_set_attribute(x, symbol, value);
    }
    if (symbol == R_ClassSymbol) ent_note_class(value);
}

/* Sets attributes from a named list. */
static void attribute_all(SEXP x, SEXP attributes) {
    if (attributes == R_NilValue) return;
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    R_xlen_t n = Rf_xlength(attributes);
    if (TYPEOF(attributes) != VECSXP || (n > 0 && TYPEOF(names) != STRSXP)) ent_nonsense("attributes are not a map");
    for (R_xlen_t i = 0; i < n; i++) ent_make_attribute(x, STRING_ELT(names, i), VECTOR_ELT(attributes, i));
}

/* Checks and completes a vector with its attributes. */
SEXP ent_make_decorated(maker *m, SEXP value) {
    if (!Rf_isVector(value)) ent_nonsense("attributes of a value that is not a vector");
    if (!Rf_isObject(value)) return value;
    /* Methods of these classes require lists. */
    if (TYPEOF(value) != VECSXP && (Rf_inherits(value, "data.frame") || Rf_inherits(value, "POSIXlt"))) {
        ent_nonsense("a vector whose class requires a list");
    }
    if (TYPEOF(value) == VECSXP && Rf_inherits(value, "data.table")) {
        SEXP parts = PROTECT(Rf_allocVector(VECSXP, 1));
        SET_VECTOR_ELT(parts, 0, value);
        value = ent_make_ask(m, "data.table", parts);
        UNPROTECT(1);
    }
    return value;
}

/* A vector with attributes. Copies the vector if something else refers to it. */
static SEXP vector_of(maker *m, SEXP value, SEXP attributes, int is_s4) {
    if (!Rf_isVector(value)) ent_nonsense("attributes of a value that is not a vector");
    SEXP out = PROTECT(MAYBE_SHARED(value) ? Rf_shallow_duplicate(value) : value);
    attribute_all(out, attributes);
    if (is_s4) out = Rf_asS4(out, TRUE, 0);
    UNPROTECT(1);
    PROTECT(out);
    out = ent_make_decorated(m, out);
    UNPROTECT(1);
    return out;
}

static SEXP call_of(SEXP items, int is_call) {
    R_xlen_t n = Rf_xlength(items) - 3;
    SEXP tags = n < 0 ? R_NilValue : VECTOR_ELT(items, 2);
    if (n < 1 || (tags != R_NilValue && (TYPEOF(tags) != STRSXP || Rf_xlength(tags) != n)))
        ent_nonsense("a call without its parts");
    SEXP out = R_NilValue;
    for (R_xlen_t i = n - 1; i >= 0; i--) {
        PROTECT(out);
        out = i == 0 && is_call ? Rf_lcons(VECTOR_ELT(items, 3), out) : Rf_cons(VECTOR_ELT(items, i + 3), out);
        UNPROTECT(1);
        if (tags != R_NilValue && LENGTH(STRING_ELT(tags, i)) > 0) {
            PROTECT(out);
            SET_TAG(out, Rf_installTrChar(STRING_ELT(tags, i)));
            UNPROTECT(1);
        }
    }
    PROTECT(out);
    attribute_all(out, VECTOR_ELT(items, 1));
    UNPROTECT(1);
    return out;
}

static int is_named(SEXP name, const char *what) { return strcmp(CHAR(STRING_ELT(name, 0)), what) == 0; }

/* The value of an object, whose items are its name and parts. */
static SEXP object_of(maker *m, SEXP items) {
    SEXP name = VECTOR_ELT(items, 0);
    R_xlen_t n = Rf_xlength(items);
    if (TYPEOF(name) != STRSXP || Rf_xlength(name) != 1) ent_nonsense("an object without a name");
    if (is_named(name, "r.vector") && (n == 3 || n == 4)) {
        return vector_of(m, VECTOR_ELT(items, 1), VECTOR_ELT(items, 2), n == 4);
    }
    if (is_named(name, "r.symbol") && n == 2) {
        SEXP text = VECTOR_ELT(items, 1);
        if (TYPEOF(text) != STRSXP || Rf_xlength(text) != 1 || STRING_ELT(text, 0) == NA_STRING)
            ent_nonsense("a symbol without a name");
        return LENGTH(STRING_ELT(text, 0)) == 0 ? R_MissingArg : Rf_installTrChar(STRING_ELT(text, 0));
    }
    if (is_named(name, "r.call") || is_named(name, "r.pairlist")) return call_of(items, is_named(name, "r.call"));
    if (is_named(name, "r.text") && n == 3) {
        SEXP text = VECTOR_ELT(items, 1), kept = VECTOR_ELT(items, 2);
        if (TYPEOF(text) != STRSXP || TYPEOF(kept) != RAWSXP || Rf_xlength(text) != Rf_xlength(kept))
            ent_nonsense("strings without encodings");
        SEXP out = PROTECT(MAYBE_SHARED(text) ? Rf_shallow_duplicate(text) : text);
        if (!ent_mark_strings(out, RAW(kept))) ent_nonsense("string encodings are invalid");
        UNPROTECT(1);
        return out;
    }
    if (is_named(name, "r.expression") && n >= 2) {
        SEXP out = PROTECT(Rf_allocVector(EXPRSXP, n - 2));
        for (R_xlen_t i = 2; i < n; i++) SET_VECTOR_ELT(out, i - 2, VECTOR_ELT(items, i));
        attribute_all(out, VECTOR_ELT(items, 1));
        UNPROTECT(1);
        return out;
    }
    if (is_named(name, "r.s4") && n == 2) {
        SEXP out = PROTECT(Rf_allocS4Object());
        attribute_all(out, VECTOR_ELT(items, 1));
        UNPROTECT(1);
        return out;
    }
    if (is_named(name, "r.data_pointer") && n == 4) {
        SEXP out = PROTECT(R_MakeExternalPtr(NULL, VECTOR_ELT(items, 2), VECTOR_ELT(items, 3)));
        attribute_all(out, VECTOR_ELT(items, 1));
        UNPROTECT(1);
        return out;
    }
    return ent_make_ask(m, CHAR(STRING_ELT(name, 0)), items);
}

/* The names of a map that shares the keys of another one. */
SEXP ent_make_names(maker *m, const unfinished_t *open) {
    size_t slot = (size_t)(open->keys % ENT_RECENT);
    SEXP known = VECTOR_ELT(m->recent, (R_xlen_t)slot);
    if (m->s->recent[slot] == open->keys && known != R_NilValue && (uint64_t)Rf_xlength(known) == open->count)
        return known;
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)open->count));
    for (uint64_t i = 0; i < open->count; i++) {
        ent_cell cell = {0};
        ent_cell_at(m->s, open->keys + i, &cell);
        if (cell.kind != ENT_CELL_STRING) ent_nonsense("maps share keys that are not strings");
        SET_STRING_ELT(names, (R_xlen_t)i, ent_make_string(m, cell.text));
    }
    SET_VECTOR_ELT(m->recent, (R_xlen_t)slot, names);
    m->s->recent[slot] = open->keys;
    UNPROTECT(1);
    return names;
}

/* A list of rows, from lists of values by key or position. */
static SEXP rows_of(SEXP columns, SEXP names) {
    R_xlen_t k = Rf_xlength(columns), n = k == 0 ? 0 : Rf_xlength(VECTOR_ELT(columns, 0));
    for (R_xlen_t j = 0; j < k; j++) {
        if (TYPEOF(VECTOR_ELT(columns, j)) != VECSXP || Rf_xlength(VECTOR_ELT(columns, j)) != n)
            ent_nonsense("rows of different lengths");
    }
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP row = Rf_allocVector(VECSXP, k);
        SET_VECTOR_ELT(out, i, row);
        for (R_xlen_t j = 0; j < k; j++) SET_VECTOR_ELT(row, j, VECTOR_ELT(VECTOR_ELT(columns, j), i));
        if (names != R_NilValue) Rf_setAttrib(row, R_NamesSymbol, names);
    }
    UNPROTECT(1);
    return out;
}

/* The value of a cell whose parts are complete. */
SEXP ent_make_finished(maker *m, const unfinished_t *open) {
    switch (open->kind) {
    case ENT_CELL_LIST:
    case ENT_CELL_LIST + 1:
    case ENT_CELL_LIST + 2:
    case ENT_CELL_LIST + 3: return open->items;
    case ENT_CELL_MAP: {
        if (open->names != R_NilValue) return open->items;
        SEXP names = PROTECT(open->count == 0 ? Rf_allocVector(STRSXP, 0) : ent_make_names(m, open));
        Rf_setAttrib(open->items, R_NamesSymbol, names);
        UNPROTECT(1);
        return open->items;
    }
    case ENT_CELL_RECORDS: {
        SEXP names = PROTECT(open->names != R_NilValue ? open->names : ent_make_names(m, open));
        Rf_setAttrib(open->items, R_NamesSymbol, R_NilValue);
        SEXP out = rows_of(open->items, names);
        UNPROTECT(1);
        return out;
    }
    case ENT_CELL_ROWS: return rows_of(open->items, R_NilValue);
    case ENT_CELL_OBJECT: return object_of(m, open->items);
    case KIND_VECTOR: return ent_make_decorated(m, open->items);
    case KIND_ATTRIBUTES: return R_NilValue;
    default: {
        ent_cell cell = {0};
        ent_cell_at(m->s, open->number, &cell);
        return ent_make_ask_one(m, cell.text, open->items);
    }
    }
}
