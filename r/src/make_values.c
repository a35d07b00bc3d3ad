/* Builds values of R from cells.
 *
 * Values are built from the outside in, on an explicit stack. An object is completed once its parts
 * are there. The result contains every value from the beginning, which protects it. R code
 * (`assemble` in R/read_tree.R) builds the kinds that are not handled here. Nothing is evaluated.
 */
#include <math.h>

#include "make_values.h"

/* Greatest depth of values. References make it exceed the depth of cells. */
#define DEEPEST 10000

/* The position of a cell among the targets of references, or -1. */
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

static void put(maker *m, int to, SEXP value);

/* Protects unfinished value `at` by storing it in its parent. An attribute must be complete before
 * it is set, so it is protected in `held`. */
static void early(maker *m, int at, SEXP value) {
    if (m->unfinished[at - 1].kind == KIND_ATTRIBUTES) SET_VECTOR_ELT(m->held, at, value);
    else put(m, at - 1, value);
}

/* The text of a key that is not a string. Integers keep all digits. */
static SEXP text_of_key(SEXP value) {
    char digits[32];
    if (TYPEOF(value) != REALSXP) return Rf_asChar(value);
    double number = REAL(value)[0];
    if (Rf_inherits(value, "integer64")) {
        int64_t integer;
        memcpy(&integer, &number, sizeof integer);
        snprintf(digits, sizeof digits, "%lld", (long long)integer);
    } else if (number == trunc(number) && fabs(number) >= 0x1p31 && fabs(number) <= 0x1p63) {
        snprintf(digits, sizeof digits, "%.0f", number);
    } else {
        return Rf_asChar(value);
    }
    return Rf_mkChar(digits);
}

/* Stores a value as the next part of unfinished value `at`. */
static void put(maker *m, int at, SEXP value) {
    unfinished_t *to = &m->unfinished[at];
    uint64_t i = to->next - to->first - 1;
    if (to->kind == KIND_VECTOR) {
        if (i != 1) return;
        to->items = value;
        early(m, at, value);
    } else if (to->kind == KIND_ATTRIBUTES) {
        ent_make_attribute(to->items, STRING_ELT(to->names, (R_xlen_t)i), value);
    } else if (i < to->count) {
        SET_VECTOR_ELT(to->items, (R_xlen_t)i, value);
    } else {
        SEXP key = R_NilValue;
        if (Rf_isVectorAtomic(value) && Rf_xlength(value) == 1)
            key = TYPEOF(value) == STRSXP ? value : text_of_key(value);
        if (key == R_NilValue) ent_make_ask(m, "key", R_NilValue);
        SET_STRING_ELT(to->names, (R_xlen_t)(i - to->count), TYPEOF(key) == STRSXP ? STRING_ELT(key, 0) : key);
    }
}

/* Whether an object is a vector whose attributes can be set one by one, without a list of them. */
static int is_vector(const maker *m, const ent_cell *cell) {
    static const char name[] = "r.vector";
    if (cell->kind != ENT_CELL_OBJECT || cell->of[2] != 3) return 0;
    ent_cell first = {0};
    ent_cell_at(m->s, cell->of[0], &first);
    if (first.kind != ENT_CELL_STRING || first.text.len != sizeof name - 1 ||
        memcmp(first.text.start, name, sizeof name - 1) != 0)
        return 0;
    ent_cell last = {0};
    ent_cell_at(m->s, cell->of[0] + 2, &last);
    return last.kind == ENT_CELL_NULL || (last.kind == ENT_CELL_MAP && target_of(m->s, cell->of[0] + 2) < 0);
}

/* Begins the attributes of the previous unfinished value, a vector. Copies the vector if something
 * else refers to it. */
static void begin_attributes(maker *m, unfinished_t *open) {
    unfinished_t *of = open - 1;
    if (!Rf_isVector(of->items)) ent_nonsense("attributes of a value that is not a vector");
    if (MAYBE_SHARED(of->items)) {
        SEXP copy = PROTECT(Rf_shallow_duplicate(of->items));
        of->items = copy;
        early(m, m->n - 1, copy);
        UNPROTECT(1);
    }
    open->kind = KIND_ATTRIBUTES;
    open->items = of->items;
    open->names = R_NilValue;
    if (open->count > 0) {
        open->names = ent_make_names(m, open);
        SET_VECTOR_ELT(m->held, m->n, open->names);
    }
    m->n++;
}

/* Begins a cell with parts. */
static void begin(maker *m, uint64_t number, const ent_cell *cell, R_xlen_t target) {
    if (m->n >= DEEPEST) ent_make_ask(m, "too deep", R_NilValue);
    if (m->n == m->room) {
        unfinished_t *more = (unfinished_t *)R_alloc((size_t)m->room * 2, sizeof *more);
        memcpy(more, m->unfinished, (size_t)m->n * sizeof *more);
        m->unfinished = more;
        m->room *= 2;
        REPROTECT(m->held = Rf_xlengthgets(m->held, m->room), m->held_at);
    }
    unfinished_t *open = &m->unfinished[m->n];
    open->number = number;
    open->kind = cell->kind;
    open->first = open->next = cell->of[0];
    open->count = cell->of[2];
    open->keys = cell->of[3];
    open->target = target;
    open->items = open->names = R_NilValue;
    if (target >= 0) m->s->state[target] = 1;
    if (m->unfinished[m->n - 1].kind == KIND_VECTOR &&
        m->unfinished[m->n - 1].next == m->unfinished[m->n - 1].first + 3) {
        begin_attributes(m, open);
        return;
    }
    if (is_vector(m, cell)) {
        open->kind = KIND_VECTOR;
        open->next++;
        m->n++;
        return;
    }
    int may_have_keys = cell->kind == ENT_CELL_MAP || cell->kind == ENT_CELL_RECORDS;
    int has_keys = may_have_keys && open->count > 0 && open->keys == open->first + open->count;
    SEXP items = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)open->count));
    if (has_keys) Rf_setAttrib(items, R_NamesSymbol, Rf_allocVector(STRSXP, (R_xlen_t)open->count));
    open->items = items;
    open->names = has_keys ? Rf_getAttrib(items, R_NamesSymbol) : R_NilValue;
    early(m, m->n, items);
    m->n++;
    UNPROTECT(1);
}

/* Whether a cell is an integer that the wanted type lacks. */
static int is_beyond_integer64(const maker *m, const ent_cell *cell) {
    int is_whole = cell->kind == ENT_CELL_INT || cell->kind == ENT_CELL_NUMPY_INT64;
    return is_whole && cell->integer == INT64_MIN && m->s->int64 == ENT_INT64_ALWAYS;
}

/* Builds the value of a cell, or begins it. */
static void one(maker *m, uint64_t number) {
    ent_cell cell = {0};
    ent_cell_at(m->s, number, &cell);
    R_xlen_t target = -1;
    if (cell.kind == ENT_CELL_REFERENCE) {
        if (cell.integer < 0 || (uint64_t)cell.integer >= number) ent_nonsense("an invalid reference");
        number = (uint64_t)cell.integer;
        ent_cell_at(m->s, number, &cell);
        if (cell.class < 3 && cell.kind != ENT_CELL_TABLE) ent_nonsense("an invalid reference");
    }
    if (cell.class >= 3 || cell.kind == ENT_CELL_TABLE) {
        target = target_of(m->s, number);
        if (target >= 0 && m->s->state[target] == 1) ent_nonsense("a cell contains itself");
        if (target >= 0 && m->s->state[target] == 2) {
            put(m, m->n - 1, VECTOR_ELT(m->made, target));
            return;
        }
    }
    SEXP value;
    switch (cell.class) {
    case 0:
        value = cell.kind == ENT_CELL_NULL    ? R_NilValue
                : cell.kind == ENT_CELL_TRUE  ? Rf_ScalarLogical(1)
                : cell.kind == ENT_CELL_FALSE ? Rf_ScalarLogical(0)
                                              : ent_make_ask_one(m, cell.text, R_NilValue);
        break;
    case 1:
        if (is_beyond_integer64(m, &cell)) ent_make_ask(m, "beyond integer64", R_NilValue);
        value = cell.kind == ENT_CELL_INT ? ent_make_whole(m, cell.integer) : PROTECT(ent_make_whole(m, cell.integer));
        if (cell.kind == ENT_CELL_INT) break;
        value = ent_make_ask_one(m, cell.text, value);
        UNPROTECT(1);
        break;
    case 2:
        value = Rf_allocVector(REALSXP, 1);
        memcpy(REAL(value), &cell.number, sizeof cell.number);
        break;
    case 3:
        value = Rf_ScalarString(PROTECT(ent_make_string(m, cell.text)));
        UNPROTECT(1);
        if (cell.kind != ENT_CELL_STRING) {
            ent_cell again = cell;
            /* The text of such a cell is its value, so the kind is passed as a number. */
            char kind[32];
            snprintf(kind, sizeof kind, "text %d", cell.kind);
            again.text.start = kind;
            again.text.len = strlen(kind);
            value = ent_make_ask_one(m, again.text, value);
        }
        break;
    case 4:
        value = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)cell.text.len));
        if (cell.text.len > 0) memcpy(RAW(value), cell.text.start, cell.text.len);
        if (cell.kind != ENT_CELL_BYTES && cell.kind != ENT_CELL_BYTES + 1) {
            char kind[32];
            snprintf(kind, sizeof kind, "bytes %d", cell.kind);
            ent_chars text = {kind, strlen(kind)};
            value = ent_make_ask_one(m, text, value);
        }
        UNPROTECT(1);
        break;
    case 5:
        if (cell.kind == ENT_CELL_OBJECT && target < 0 && ent_make_small_vectors(m, number, 1)) return;
        begin(m, number, &cell, target);
        return;
    default:
        if (target < 0 && ent_make_small_vectors(m, number, 0)) return;
        value = ent_make_array(m, &cell);
    }
    PROTECT(value);
    remember(m, target, value);
    put(m, m->n - 1, value);
    UNPROTECT(1);
}

/* A list of the values of neighbouring cells that were read before. */
SEXP ent_c_make(SEXP pointer, SEXP range, SEXP hook) {
    ent_session *s = ent_pointer_of(pointer, "cells");
    SEXP kept = R_ExternalPtrProtected(pointer);
    uint64_t start = (uint64_t)REAL(range)[0], end = (uint64_t)REAL(range)[1];
    SEXP results = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)(end - start)));
    maker m = {
        .s = s,
        .made = VECTOR_ELT(kept, 0),
        .pools = VECTOR_ELT(kept, 1),
        .recent = VECTOR_ELT(kept, 2),
        .hook = hook,
        .unfinished = (unfinished_t *)R_alloc(64, sizeof(unfinished_t)),
        .n = 1,
        .room = 64,
    };
    PROTECT_WITH_INDEX(m.held = Rf_allocVector(VECSXP, m.room), &m.held_at);
    m.unfinished[0] = (unfinished_t){UINT64_MAX, start, end - start, 0, start, ENT_CELL_LIST, results, R_NilValue, -1};
    size_t steps = 0;
    for (;;) {
        unfinished_t *top = &m.unfinished[m.n - 1];
        int has_keys = top->names != R_NilValue && top->kind != KIND_ATTRIBUTES;
        if (top->next < top->first + (has_keys ? 2 * top->count : top->count)) {
            uint64_t number = top->next++;
            one(&m, number);
            if (++steps % 262144 == 0) R_CheckUserInterrupt();
            continue;
        }
        if (m.n == 1) break;
        unfinished_t done = *top;
        SEXP value = PROTECT(ent_make_finished(&m, &done));
        m.n--;
        remember(&m, done.target, value);
        put(&m, m.n - 1, value);
        if (VECTOR_ELT(m.held, m.n) != R_NilValue) SET_VECTOR_ELT(m.held, m.n, R_NilValue);
        UNPROTECT(1);
    }
    UNPROTECT(2);
    return results;
}
