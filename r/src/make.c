/* Cells to values of R.
 *
 * Values are made from the outside in, on a stack of our own; what has parts is made of them when all are there. Every value is
 * below the result from the beginning, which keeps it. What is not dealt with here is asked of R code, `assemble` in R/trees.R.
 * Nothing is evaluated.
 */
#include "glue.h"

/* More values inside of one another than cells below one another can be: references lead on. */
#define DEEPEST 10000

typedef struct {
    uint64_t number, first, count, keys, next;
    int kind;
    SEXP items, names;
    R_xlen_t target; /* its place among what references mean, or -1 */
} frame_t;

typedef struct {
    ent_session *s;
    SEXP made, pools, lately, hook;
    frame_t *frames;
    int n, room;
} maker;

/* Asks R code for the value of a kind or name. */
static SEXP ask(maker *m, const char *what, SEXP parts) {
    SEXP name = PROTECT(Rf_mkString(what));
    SEXP holder = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(holder, 0, name);
    SET_VECTOR_ELT(holder, 1, parts);
    SEXP out = Rf_eval(PROTECT(Rf_lang2(m->hook, holder)), R_GlobalEnv);
    UNPROTECT(3);
    return out;
}

static SEXP ask_one(maker *m, ent_chars kind, SEXP part) {
    char what[64];
    size_t len = kind.len < sizeof what - 1 ? kind.len : sizeof what - 1;
    memcpy(what, kind.start, len);
    what[len] = 0;
    PROTECT(part);
    SEXP parts = PROTECT(Rf_allocVector(VECSXP, 1));
    SET_VECTOR_ELT(parts, 0, part);
    SEXP out = ask(m, what, parts);
    UNPROTECT(2);
    return out;
}

static SEXP string_of(maker *m, ent_chars text) {
    if (text.len > 0 && memchr(text.start, 0, text.len) != NULL) ask(m, "zero character", R_NilValue);
    return ent_char(text);
}

static SEXP whole(int64_t integer) {
    if (integer > INT_MIN && integer <= INT_MAX) return Rf_ScalarInteger((int)integer);
    if (integer >= -(INT64_C(1) << 53) && integer <= INT64_C(1) << 53) return Rf_ScalarReal((double)integer);
    SEXP value = PROTECT(Rf_allocVector(REALSXP, 1));
    memcpy(REAL(value), &integer, sizeof integer);
    Rf_setAttrib(value, R_ClassSymbol, Rf_mkString("integer64"));
    UNPROTECT(1);
    return value;
}

/* Some values of a vector. */
static SEXP slice(SEXP x, R_xlen_t at, R_xlen_t n) {
    SEXP out = PROTECT(Rf_allocVector(TYPEOF(x), n));
    if (TYPEOF(x) == STRSXP) {
        for (R_xlen_t i = 0; i < n; i++) SET_STRING_ELT(out, i, STRING_ELT(x, at + i));
    } else if (n > 0) {
        size_t width = TYPEOF(x) == RAWSXP ? 1 : TYPEOF(x) == CPLXSXP ? 16 : TYPEOF(x) == REALSXP ? 8 : 4;
        memcpy((char *)DATAPTR(out), (const char *)DATAPTR_RO(x) + (size_t)at * width, (size_t)n * width);
    }
    if (ATTRIB(x) != R_NilValue) Rf_copyMostAttrib(x, out);
    UNPROTECT(1);
    return out;
}

static SEXP array_of(maker *m, const ent_cell *cell) {
    size_t n;
    const ent_pool *pools = ent_loaded_pools(m->s->loaded, &n);
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pools[middle].pool < cell->of[0]) low = middle + 1;
        else high = middle;
    }
    if (low == n || pools[low].pool != cell->of[0] || m->pools == R_NilValue) Rf_error("an array without a pool");
    const ent_pool *pool = &pools[low];
    if (cell->of[1] < pool->start || cell->of[1] + cell->of[2] > pool->end) Rf_error("an array outside of its pool");
    SEXP all = VECTOR_ELT(m->pools, (R_xlen_t)low);
    int is_all = pool->n == 1 && pool->end - pool->start == cell->of[2];
    SEXP out = is_all ? all : slice(all, (R_xlen_t)(cell->of[1] - pool->start), (R_xlen_t)cell->of[2]);
    if (cell->of[3] == 0) return out;
    ent_failure *failure = NULL;
    double shape[64];
    PROTECT(out);
    int n_dim = ent_loaded_shape(m->s->loaded, cell->of[3], cell->of[2], shape, &failure);
    if (n_dim < 0) ent_fail(failure);
    if (n_dim > 1) {
        SEXP dim = PROTECT(Rf_allocVector(INTSXP, n_dim));
        for (int k = 0; k < n_dim; k++) {
            if (shape[k] > INT_MAX) Rf_error("an array with an axis longer than those of R");
            INTEGER(dim)[k] = (int)shape[k];
        }
        if (cell->kind == ENT_CELL_FORTRAN) {
            if (MAYBE_SHARED(out)) out = Rf_shallow_duplicate(out);
            PROTECT(out);
            Rf_setAttrib(out, R_DimSymbol, dim);
            UNPROTECT(1);
        } else {
            SEXP parts = PROTECT(Rf_allocVector(VECSXP, 2));
            SET_VECTOR_ELT(parts, 0, out);
            SET_VECTOR_ELT(parts, 1, dim);
            out = ask(m, "array by rows", parts);
            UNPROTECT(1);
        }
        UNPROTECT(1);
    }
    UNPROTECT(1);
    return out;
}

/* The place of a cell among what references mean, or -1. */
static R_xlen_t target_of(const ent_session *s, uint64_t number) {
    size_t n;
    const uint64_t *targets = ent_loaded_targets(s->loaded, &n);
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (targets[middle] < number) low = middle + 1;
        else high = middle;
    }
    return low < n && targets[low] == number ? (R_xlen_t)low : -1;
}

static void remember(maker *m, R_xlen_t target, SEXP value) {
    if (target < 0) return;
    SET_VECTOR_ELT(m->made, target, value);
    m->s->state[target] = 2;
}

/* Puts a value to the next place of a frame. */
static void put(frame_t *to, SEXP value) {
    uint64_t i = to->next - to->first - 1;
    if (i < to->count) {
        SET_VECTOR_ELT(to->items, (R_xlen_t)i, value);
        return;
    }
    SEXP key = R_NilValue;
    if (Rf_isVectorAtomic(value) && Rf_xlength(value) == 1) key = TYPEOF(value) == STRSXP ? value : Rf_asChar(value);
    if (key == R_NilValue) Rf_error("a key that R can't have as a name");
    SET_STRING_ELT(to->names, (R_xlen_t)(i - to->count), TYPEOF(key) == STRSXP ? STRING_ELT(key, 0) : key);
}

static SEXP decorated(maker *m, SEXP value, SEXP attributes, int is_s4) {
    if (!Rf_isVector(value)) Rf_error("attributes of what is no vector");
    if (attributes != R_NilValue && (TYPEOF(attributes) != VECSXP || Rf_xlength(attributes) > INT_MAX)) Rf_error("attributes are no map");
    SEXP out = PROTECT(MAYBE_SHARED(value) ? Rf_shallow_duplicate(value) : value);
    SEXP named = PROTECT(attributes == R_NilValue ? Rf_allocVector(VECSXP, 0) : attributes);
    out = ent_c_decorate(out, named, Rf_ScalarLogical(is_s4));
    /* What counts on these classes takes them for lists. */
    if (OBJECT(out) && TYPEOF(out) != VECSXP && (Rf_inherits(out, "data.frame") || Rf_inherits(out, "POSIXlt"))) {
        Rf_error("a vector of a class of lists");
    }
    if (OBJECT(out) && TYPEOF(out) == VECSXP && Rf_inherits(out, "data.table")) {
        SEXP parts = PROTECT(Rf_allocVector(VECSXP, 1));
        SET_VECTOR_ELT(parts, 0, out);
        out = ask(m, "data.table", parts);
        UNPROTECT(1);
    }
    UNPROTECT(2);
    return out;
}

/* Gives attributes to what is no vector. */
static void attribute_all(SEXP x, SEXP attributes) {
    if (attributes == R_NilValue) return;
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    if (TYPEOF(attributes) != VECSXP || (Rf_xlength(attributes) > 0 && TYPEOF(names) != STRSXP)) Rf_error("attributes are no map");
    for (R_xlen_t i = 0; i < Rf_xlength(attributes); i++) {
        if (LENGTH(STRING_ELT(names, i)) == 0) Rf_error("an attribute has no name");
        SEXP symbol = Rf_installTrChar(STRING_ELT(names, i));
        if (TYPEOF(x) == S4SXP && symbol != R_ClassSymbol) {
            R_do_slot_assign(x, symbol, VECTOR_ELT(attributes, i));
        } else {
            Rf_setAttrib(x, symbol, VECTOR_ELT(attributes, i));
        }
    }
}

static SEXP call_of(SEXP items, int is_call) {
    R_xlen_t n = Rf_xlength(items) - 3;
    SEXP tags = n < 0 ? R_NilValue : VECTOR_ELT(items, 2);
    if (n < 1 || (tags != R_NilValue && (TYPEOF(tags) != STRSXP || Rf_xlength(tags) != n))) Rf_error("a call without its parts");
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

/* The value of an object: its name, then parts. */
static SEXP object_of(maker *m, SEXP items) {
    SEXP name = VECTOR_ELT(items, 0);
    R_xlen_t n = Rf_xlength(items);
    if (TYPEOF(name) != STRSXP || Rf_xlength(name) != 1) Rf_error("an object without a name");
    if (is_named(name, "r.vector") && (n == 3 || n == 4)) {
        return decorated(m, VECTOR_ELT(items, 1), VECTOR_ELT(items, 2), n == 4);
    }
    if (is_named(name, "r.symbol") && n == 2) {
        SEXP text = VECTOR_ELT(items, 1);
        if (TYPEOF(text) != STRSXP || Rf_xlength(text) != 1 || STRING_ELT(text, 0) == NA_STRING) Rf_error("a symbol without a name");
        return LENGTH(STRING_ELT(text, 0)) == 0 ? R_MissingArg : Rf_installTrChar(STRING_ELT(text, 0));
    }
    if (is_named(name, "r.call") || is_named(name, "r.pairlist")) return call_of(items, is_named(name, "r.call"));
    if (is_named(name, "r.text") && n == 3) {
        SEXP text = VECTOR_ELT(items, 1), kept = VECTOR_ELT(items, 2);
        if (TYPEOF(text) != STRSXP || TYPEOF(kept) != RAWSXP || Rf_xlength(text) != Rf_xlength(kept)) Rf_error("strings without marks");
        SEXP out = PROTECT(MAYBE_SHARED(text) ? Rf_shallow_duplicate(text) : text);
        if (!ent_mark_strings(out, RAW(kept))) Rf_error("strings were not kept in a way that makes sense");
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
    return ask(m, CHAR(STRING_ELT(name, 0)), items);
}

/* Names of a map that has those of another one. */
static SEXP shared_names(maker *m, const frame_t *frame) {
    size_t slot = (size_t)(frame->keys % ENT_LATELY);
    SEXP known = VECTOR_ELT(m->lately, (R_xlen_t)slot);
    if (m->s->lately[slot] == frame->keys && known != R_NilValue && (uint64_t)Rf_xlength(known) == frame->count) return known;
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)frame->count));
    for (uint64_t i = 0; i < frame->count; i++) {
        ent_cell cell = ent_cell_at(m->s, frame->keys + i);
        if (cell.kind != ENT_CELL_STRING) Rf_error("maps share keys that are not strings");
        SET_STRING_ELT(names, (R_xlen_t)i, string_of(m, cell.text));
    }
    SET_VECTOR_ELT(m->lately, (R_xlen_t)slot, names);
    m->s->lately[slot] = frame->keys;
    UNPROTECT(1);
    return names;
}

/* A list of rows, of the lists of their values by key or place. */
static SEXP rows_of(SEXP columns, SEXP names) {
    R_xlen_t k = Rf_xlength(columns), n = k == 0 ? 0 : Rf_xlength(VECTOR_ELT(columns, 0));
    for (R_xlen_t j = 0; j < k; j++) {
        if (TYPEOF(VECTOR_ELT(columns, j)) != VECSXP || Rf_xlength(VECTOR_ELT(columns, j)) != n) Rf_error("rows of different lengths");
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

/* The value of a cell, of its parts. */
static SEXP finished(maker *m, const frame_t *frame) {
    switch (frame->kind) {
    case ENT_CELL_LIST:
    case ENT_CELL_LIST + 1: case ENT_CELL_LIST + 2: case ENT_CELL_LIST + 3:
        return frame->items;
    case ENT_CELL_MAP: {
        if (frame->names != R_NilValue) return frame->items;
        SEXP names = PROTECT(frame->count == 0 ? Rf_allocVector(STRSXP, 0) : shared_names(m, frame));
        Rf_setAttrib(frame->items, R_NamesSymbol, names);
        UNPROTECT(1);
        return frame->items;
    }
    case ENT_CELL_RECORDS: {
        SEXP names = PROTECT(frame->names != R_NilValue ? frame->names : shared_names(m, frame));
        Rf_setAttrib(frame->items, R_NamesSymbol, R_NilValue);
        SEXP out = rows_of(frame->items, names);
        UNPROTECT(1);
        return out;
    }
    case ENT_CELL_ROWS:
        return rows_of(frame->items, R_NilValue);
    case ENT_CELL_OBJECT:
        return object_of(m, frame->items);
    default: {
        ent_cell cell = ent_cell_at(m->s, frame->number);
        return ask_one(m, cell.text, frame->items);
    }
    }
}

/* Begins a cell that has parts. */
static void begin(maker *m, uint64_t number, const ent_cell *cell, R_xlen_t target) {
    if (m->n >= DEEPEST) ask(m, "too deep", R_NilValue);
    if (m->n == m->room) {
        frame_t *more = (frame_t *)R_alloc((size_t)m->room * 2, sizeof *more);
        memcpy(more, m->frames, (size_t)m->n * sizeof *more);
        m->frames = more;
        m->room *= 2;
    }
    frame_t *frame = &m->frames[m->n];
    frame->number = number;
    frame->kind = cell->kind;
    frame->first = frame->next = cell->of[0];
    frame->count = cell->of[2];
    frame->keys = cell->of[3];
    frame->target = target;
    int may_have_keys = cell->kind == ENT_CELL_MAP || cell->kind == ENT_CELL_RECORDS;
    int has_keys = may_have_keys && frame->count > 0 && frame->keys == frame->first + frame->count;
    SEXP items = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)frame->count));
    if (has_keys) Rf_setAttrib(items, R_NamesSymbol, Rf_allocVector(STRSXP, (R_xlen_t)frame->count));
    frame->items = items;
    frame->names = has_keys ? Rf_getAttrib(items, R_NamesSymbol) : R_NilValue;
    put(&m->frames[m->n - 1], items);
    if (target >= 0) m->s->state[target] = 1;
    m->n++;
    UNPROTECT(1);
}

/* Makes the value of a cell, or begins it. */
static void one(maker *m, uint64_t number) {
    ent_cell cell = ent_cell_at(m->s, number);
    R_xlen_t target = -1;
    if (cell.kind == ENT_CELL_REFERENCE) {
        if (cell.integer < 0 || (uint64_t)cell.integer >= number) Rf_error("a reference names what it can't");
        number = (uint64_t)cell.integer;
        cell = ent_cell_at(m->s, number);
        if (cell.class < 3 && cell.kind != ENT_CELL_TABLE) Rf_error("a reference names what it can't");
    }
    if (cell.class >= 3 || cell.kind == ENT_CELL_TABLE) {
        target = target_of(m->s, number);
        if (target >= 0 && m->s->state[target] == 1) Rf_error("a cell contains itself");
        if (target >= 0 && m->s->state[target] == 2) {
            put(&m->frames[m->n - 1], VECTOR_ELT(m->made, target));
            return;
        }
    }
    SEXP value;
    switch (cell.class) {
    case 0:
        value = cell.kind == ENT_CELL_NULL   ? R_NilValue
                : cell.kind == ENT_CELL_TRUE ? Rf_ScalarLogical(1)
                : cell.kind == ENT_CELL_FALSE ? Rf_ScalarLogical(0)
                                              : ask_one(m, cell.text, R_NilValue);
        break;
    case 1:
        value = cell.kind == ENT_CELL_INT ? whole(cell.integer) : PROTECT(whole(cell.integer));
        if (cell.kind == ENT_CELL_INT) break;
        value = ask_one(m, cell.text, value);
        UNPROTECT(1);
        break;
    case 2:
        value = Rf_allocVector(REALSXP, 1);
        memcpy(REAL(value), &cell.number, sizeof cell.number);
        break;
    case 3:
        value = Rf_ScalarString(PROTECT(string_of(m, cell.text)));
        UNPROTECT(1);
        if (cell.kind != ENT_CELL_STRING) {
            ent_cell again = cell;
            /* The text of such a cell is its value: the kind is told by its number. */
            char kind[32];
            snprintf(kind, sizeof kind, "text %d", cell.kind);
            again.text.start = kind;
            again.text.len = strlen(kind);
            value = ask_one(m, again.text, value);
        }
        break;
    case 4:
        value = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)cell.text.len));
        if (cell.text.len > 0) memcpy(RAW(value), cell.text.start, cell.text.len);
        if (cell.kind != ENT_CELL_BYTES && cell.kind != ENT_CELL_BYTES + 1) {
            char kind[32];
            snprintf(kind, sizeof kind, "bytes %d", cell.kind);
            ent_chars text = {kind, strlen(kind)};
            value = ask_one(m, text, value);
        }
        UNPROTECT(1);
        break;
    case 5:
        begin(m, number, &cell, target);
        return;
    default:
        value = array_of(m, &cell);
    }
    PROTECT(value);
    remember(m, target, value);
    put(&m->frames[m->n - 1], value);
    UNPROTECT(1);
}

/* The values of neighbouring cells, of those that were read: a list. */
SEXP ent_c_make(SEXP pointer, SEXP range, SEXP hook) {
    ent_session *s = ent_held(pointer, "cells");
    SEXP kept = R_ExternalPtrProtected(pointer);
    uint64_t start = (uint64_t)REAL(range)[0], end = (uint64_t)REAL(range)[1];
    SEXP results = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)(end - start)));
    maker m = {s, VECTOR_ELT(kept, 0), VECTOR_ELT(kept, 1), VECTOR_ELT(kept, 2), hook, NULL, 1, 64};
    m.frames = (frame_t *)R_alloc(64, sizeof(frame_t));
    m.frames[0] = (frame_t){UINT64_MAX, start, end - start, 0, start, ENT_CELL_LIST, results, R_NilValue, -1};
    size_t steps = 0;
    for (;;) {
        frame_t *top = &m.frames[m.n - 1];
        uint64_t n = top->names == R_NilValue ? top->count : 2 * top->count;
        if (top->next < top->first + n) {
            uint64_t number = top->next++;
            one(&m, number);
            if (++steps % 262144 == 0) R_CheckUserInterrupt();
            continue;
        }
        if (m.n == 1) break;
        frame_t done = *top;
        SEXP value = PROTECT(finished(&m, &done));
        m.n--;
        remember(&m, done.target, value);
        put(&m.frames[m.n - 1], value);
        UNPROTECT(1);
    }
    UNPROTECT(1);
    return results;
}
