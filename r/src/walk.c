/* Values of R to cells.
 *
 * Children of a value are looked at together, then what is below each of them, in order, on a stack of our own: no depth of nesting
 * reaches the program's stack. What is not dealt with here is asked of R code, `take_apart` in R/trees.R, which gets it in a list, so
 * that language is never evaluated. Values stay where they are until the file is written: what R code makes of them is kept.
 */
#include "glue.h"

/* What is below a cell. */
enum {
    BELOW_END,        /* nothing more */
    BELOW_LIST,       /* the items of a list */
    BELOW_MAP,        /* those, and its names */
    BELOW_PARTS,      /* the items of a list that R code made: a name, and parts */
    BELOW_VECTOR,     /* a vector, and its attributes */
    BELOW_ATTRIBUTES, /* values and names of attributes */
    BELOW_TEXT,       /* strings, and how they are kept */
    BELOW_CALL,       /* attributes, tags, and the items of a call or pairlist */
    BELOW_EXPRESSION, /* attributes, and the items of an expression */
    BELOW_SYMBOL,
    BELOW_S4,
};

#define DEEPEST 1000

typedef struct {
    int up; /* the frame that it is below */
    int depth;
    R_xlen_t position;
} at_t;

typedef struct {
    int below;
    SEXP object;
    size_t place;
    at_t at;
    ent_pooled pooled;
} step_t;

/* Arrays that grow. What they count is in use. */
typedef struct {
    ent_cells *cells;
    SEXP self, hook;
    step_t *stack, *fresh;
    size_t n_stack, n_fresh, room_stack, room_fresh;
    step_t *frames;
    size_t n_frames, room_frames;
    ent_keys keys;
    at_t here;                /* what is being looked at */
} walker;

static void free_walker(SEXP pointer) {
    walker *w = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (w == NULL) return;
    ent_keys_free(&w->keys);
    free(w->stack);
    free(w->fresh);
    free(w->frames);
    if (w->cells != NULL) ent_cells_free(w->cells);
    free(w);
}

static void *grown(void *memory, size_t *room, size_t needed, size_t width) {
    if (needed <= *room) return memory;
    size_t more = *room < 64 ? 64 : *room;
    while (more < needed) more *= 2;
    void *grown = realloc(memory, more * width);
    if (grown == NULL) Rf_error("not enough memory for a tree of values");
    *room = more;
    return grown;
}

static void keep(walker *w, SEXP value) {
    R_SetExternalPtrProtected(w->self, Rf_cons(value, R_ExternalPtrProtected(w->self)));
}

static void scalar(walker *w, int kind, int64_t integer, double number) {
    ent_failure *failure = NULL;
    if (ent_cells_scalar(w->cells, kind, integer, number, &failure) < 0) ent_fail(failure);
}

static int text(walker *w, SEXP string) {
    ent_failure *failure = NULL;
    int done = ent_cells_text(w->cells, ent_chars_of(string), &failure);
    if (done < 0) ent_fail(failure);
    return done;
}

static void name(walker *w, const char *name) {
    ent_failure *failure = NULL;
    ent_chars chars = {name, strlen(name)};
    if (ent_cells_text(w->cells, chars, &failure) != 1) ent_fail(failure);
}

static size_t parent(walker *w, int kind) {
    ent_failure *failure = NULL;
    ptrdiff_t place = ent_cells_parent(w->cells, kind, &failure);
    if (place < 0) ent_fail(failure);
    return (size_t)place;
}

static void array(walker *w, ent_pooled pooled, const int *dim, size_t n_dim) {
    ent_failure *failure = NULL;
    if (ent_cells_array(w->cells, pooled, dim, n_dim, &failure) < 0) ent_fail(failure);
}

/* A cell whose children are looked at later. */
static void later(walker *w, int kind, int below, SEXP object, at_t at, const ent_pooled *pooled) {
    w->fresh = grown(w->fresh, &w->room_fresh, w->n_fresh + 1, sizeof *w->fresh);
    step_t *step = &w->fresh[w->n_fresh];
    step->below = below;
    step->object = object;
    step->at = at;
    if (pooled != NULL) step->pooled = *pooled;
    step->place = parent(w, kind);
    w->n_fresh++;
}

static void object(walker *w, int below, SEXP x, at_t at) { later(w, ENT_CELL_OBJECT, below, x, at, NULL); }

/* A string that is what UTF-8 and its mark say. */
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

static ent_pooled numbers(walker *w, int kind, const void *memory, R_xlen_t n) {
    ent_failure *failure = NULL;
    ent_pooled pooled;
    if (ent_cells_numbers(w->cells, kind, memory, (size_t)n, &pooled, &failure) < 0) ent_fail(failure);
    return pooled;
}

static int kind_of(SEXP x) {
    switch (TYPEOF(x)) {
    case LGLSXP: return ENT_KIND_LOGICAL;
    case INTSXP: return ENT_KIND_INTEGER;
    case REALSXP: return ENT_KIND_DOUBLE;
    case CPLXSXP: return ENT_KIND_COMPLEX;
    default: return ENT_KIND_RAW;
    }
}

/* An atomic vector without its attributes, of which `dim` may be told. */
static void atomic(walker *w, SEXP x, SEXP dim, at_t at) {
    R_xlen_t n = Rf_xlength(x);
    if (n == 1 && dim == R_NilValue) {
        switch (TYPEOF(x)) {
        case LGLSXP:
            if (LOGICAL_ELT(x, 0) == NA_LOGICAL) break;
            scalar(w, LOGICAL_ELT(x, 0) ? ENT_CELL_TRUE : ENT_CELL_FALSE, 0, 0);
            return;
        case INTSXP:
            if (INTEGER_ELT(x, 0) == NA_INTEGER) break;
            scalar(w, ENT_CELL_INT, INTEGER_ELT(x, 0), 0);
            return;
        case REALSXP:
            scalar(w, ENT_CELL_FLOAT, 0, REAL_ELT(x, 0));
            return;
        case STRSXP:
            if (is_plain(STRING_ELT(x, 0)) && text(w, STRING_ELT(x, 0))) return;
            break;
        default:
            break;
        }
    }
    const int *dims = dim == R_NilValue ? NULL : INTEGER(dim);
    size_t n_dim = (size_t)Rf_xlength(dim);
    if (TYPEOF(x) != STRSXP) {
        array(w, numbers(w, kind_of(x), DATAPTR_RO(x), n), dims, n_dim);
        return;
    }
    ent_failure *failure = NULL;
    ent_pooled pooled;
    ent_strings *strings = ent_cells_strings(w->cells, (size_t)n, &pooled, &failure);
    if (strings == NULL || !ent_collect(strings, x, &failure)) ent_fail(failure);
    if (ent_strings_odd(strings, pooled.at) == NULL) {
        array(w, pooled, dims, n_dim);
    } else {
        /* Where they stand is told by `pooled`; how they are kept is copied, as the strings may move. */
        SEXP kept = PROTECT(Rf_allocVector(RAWSXP, n));
        memcpy(RAW(kept), ent_strings_odd(strings, pooled.at), (size_t)n);
        SEXP both = PROTECT(Rf_allocVector(VECSXP, 2));
        SET_VECTOR_ELT(both, 0, kept);
        SET_VECTOR_ELT(both, 1, dim);
        keep(w, both);
        later(w, ENT_CELL_OBJECT, BELOW_TEXT, both, at, &pooled);
        UNPROTECT(2);
    }
}

static int has_plain_names(walker *w, SEXP names, R_xlen_t n);

/* The one attribute that a value has, NULL when it is another or there are more. */
static SEXP only(SEXP x, SEXP symbol) {
    SEXP all = ATTRIB(x);
    return all != R_NilValue && CDR(all) == R_NilValue && TAG(all) == symbol ? CAR(all) : NULL;
}

/* Asks R code about a value, which is in a list, as functions would be taken for code. Others that R code might evaluate it gets
 * no sight of, only of their type. */
static void ask(walker *w, SEXP x, at_t at) {
    w->here = at;
    int type = TYPEOF(x);
    int is_seen = type == ENVSXP || type == CLOSXP || type == BUILTINSXP || type == SPECIALSXP || type == VECSXP;
    SEXP holder = PROTECT(Rf_allocVector(VECSXP, 1));
    SET_VECTOR_ELT(holder, 0, is_seen ? x : R_NilValue);
    SEXP call = PROTECT(Rf_lang3(w->hook, holder, PROTECT(Rf_mkString(Rf_type2char(type)))));
    SEXP parts = PROTECT(Rf_eval(call, R_GlobalEnv));
    if (TYPEOF(parts) == REALSXP) {
        scalar(w, ENT_CELL_TABLE, (int64_t)Rf_asReal(parts), 0);
    } else if (TYPEOF(parts) == VECSXP) {
        keep(w, parts);
        object(w, BELOW_PARTS, parts, at);
    } else {
        object(w, BELOW_VECTOR, x, at);
    }
    UNPROTECT(4);
}

/* Adds the cell of a value. */
static void emit(walker *w, SEXP x, at_t at, int is_bare) {
    is_bare = is_bare || (ATTRIB(x) == R_NilValue && !IS_S4_OBJECT(x));
    switch (TYPEOF(x)) {
    case NILSXP:
        scalar(w, ENT_CELL_NULL, 0, 0);
        return;
    case LGLSXP: case INTSXP: case REALSXP: case CPLXSXP: case RAWSXP: case STRSXP:
        if (is_bare) {
            atomic(w, x, R_NilValue, at);
        } else {
            SEXP dim = IS_S4_OBJECT(x) ? NULL : only(x, R_DimSymbol);
            if (dim != NULL && TYPEOF(dim) == INTSXP && ATTRIB(dim) == R_NilValue && Rf_xlength(dim) > 1) {
                atomic(w, x, dim, at);
            } else {
                object(w, BELOW_VECTOR, x, at);
            }
        }
        return;
    case VECSXP: {
        if (is_bare) {
            later(w, ENT_CELL_LIST, BELOW_LIST, x, at, NULL);
            return;
        }
        SEXP names = IS_S4_OBJECT(x) ? NULL : only(x, R_NamesSymbol);
        if (names != NULL && has_plain_names(w, names, Rf_xlength(x))) {
            later(w, ENT_CELL_MAP, BELOW_MAP, x, at, NULL);
        } else if (Rf_inherits(x, "data.frame") || Rf_inherits(x, "family")) {
            ask(w, x, at);
        } else {
            object(w, BELOW_VECTOR, x, at);
        }
        return;
    }
    case SYMSXP:
        object(w, BELOW_SYMBOL, x, at);
        return;
    case LANGSXP: case LISTSXP: case DOTSXP:
        object(w, BELOW_CALL, x, at);
        return;
    case EXPRSXP:
        object(w, BELOW_EXPRESSION, x, at);
        return;
    case S4SXP:
        object(w, BELOW_S4, x, at);
        return;
    case PROMSXP: {
        /* One that was evaluated is its value, one of a constant is that. */
        SEXP value = PRVALUE(x) != R_UnboundValue ? PRVALUE(x) : R_PromiseExpr(x);
        int type = TYPEOF(value);
        if (PRVALUE(x) == R_UnboundValue && (type == SYMSXP || type == LANGSXP || type == PROMSXP || type == BCODESXP)) {
            ask(w, x, at);
        } else {
            emit(w, value, at, 0);
        }
        return;
    }
    default:
        ask(w, x, at);
    }
}

/* A value made only for the file. */
static void emit_fresh(walker *w, SEXP x, at_t at) {
    PROTECT(x);
    keep(w, x);
    emit(w, x, at, 0);
    UNPROTECT(1);
}

/* Whether names are strings that other hosts have as keys: plain ones, each once. */
static int has_plain_names(walker *w, SEXP names, R_xlen_t n) {
    if (TYPEOF(names) != STRSXP || ATTRIB(names) != R_NilValue || Rf_xlength(names) != n) return 0;
    SEXP *keys = (SEXP *)STRING_PTR_RO(names);
    uint64_t first;
    if (ent_keys_find(&w->keys, keys, n, &first)) return 1;
    for (R_xlen_t i = 0; i < n; i++) {
        if (!is_plain(keys[i])) return 0;
    }
    return ent_keys_differ(keys, n);
}

/* The cell of the first key: those of another map that are the same, or new ones. */
static uint64_t emit_keys(walker *w, SEXP *keys, R_xlen_t n) {
    if (n == 0) return 0;
    uint64_t first;
    if (ent_keys_find(&w->keys, keys, n, &first)) return first;
    first = ent_cells_n(w->cells);
    for (R_xlen_t i = 0; i < n; i++) {
        if (!text(w, keys[i])) Rf_error("a name is no UTF-8");
    }
    ent_keys_add(&w->keys, keys, n, first);
    return first;
}

static int is_internal(SEXP tag) { return strcmp(CHAR(PRINTNAME(tag)), ".internal.selfref") == 0; }

/* A map of attributes, or NULL without any. */
static void emit_attributes(walker *w, SEXP x, at_t at) {
    if (ATTRIB(x) == R_NilValue) {
        scalar(w, ENT_CELL_NULL, 0, 0);
    } else {
        later(w, ENT_CELL_MAP, BELOW_ATTRIBUTES, x, at, NULL);
    }
}

/* Adds the children of a cell. */
static void expand(walker *w, step_t step) {
    static const char *const names[] = {
        [BELOW_VECTOR] = "r.vector", [BELOW_TEXT] = "r.text", [BELOW_EXPRESSION] = "r.expression",
        [BELOW_SYMBOL] = "r.symbol", [BELOW_S4] = "r.s4",
    };
    SEXP x = step.object;
    if (step.at.depth >= DEEPEST) {
        w->here = step.at;
        SEXP deep = PROTECT(Rf_mkString("too deep"));
        Rf_eval(PROTECT(Rf_lang3(w->hook, R_NilValue, deep)), R_GlobalEnv);
        Rf_error("nested too deep");
    }
    w->frames = grown(w->frames, &w->room_frames, w->n_frames + 1, sizeof *w->frames);
    if (w->n_frames >= INT_MAX) Rf_error("a tree of too many values");
    w->frames[w->n_frames] = step;
    at_t at = {(int)w->n_frames++, step.at.depth + 1, 0};
    uint64_t first = ent_cells_n(w->cells), count = 0, keys = 0;
    if (step.below == BELOW_CALL) {
        name(w, TYPEOF(x) == LANGSXP ? "r.call" : TYPEOF(x) == DOTSXP ? "r.dots" : "r.pairlist");
        at.position = -1;
        emit_attributes(w, x, at);
        R_xlen_t n = 0;
        int tagged = 0;
        for (SEXP node = x; node != R_NilValue; node = CDR(node), n++) {
            if (TYPEOF(node) != LANGSXP && TYPEOF(node) != LISTSXP && TYPEOF(node) != DOTSXP) Rf_error("a pairlist without an end");
            tagged |= TAG(node) != R_NilValue;
        }
        if (tagged) {
            SEXP tags = PROTECT(Rf_allocVector(STRSXP, n));
            R_xlen_t i = 0;
            for (SEXP node = x; node != R_NilValue; node = CDR(node), i++) {
                SET_STRING_ELT(tags, i, TAG(node) == R_NilValue ? R_BlankString : PRINTNAME(TAG(node)));
            }
            emit_fresh(w, tags, at);
            UNPROTECT(1);
        } else {
            scalar(w, ENT_CELL_NULL, 0, 0);
        }
        for (SEXP node = x; node != R_NilValue; node = CDR(node)) {
            at.position++;
            emit(w, CAR(node), at, 0);
        }
        count = 3 + (uint64_t)n;
    } else if (step.below == BELOW_ATTRIBUTES) {
        for (SEXP node = ATTRIB(x); node != R_NilValue; node = CDR(node)) {
            if (is_internal(TAG(node))) continue;
            emit(w, CAR(node), at, 0);
            at.position++;
        }
        SEXP few[16];
        R_xlen_t n = at.position;
        const void *top = vmaxget();
        SEXP *all = n <= 16 ? few : (SEXP *)R_alloc((size_t)n, sizeof *all);
        R_xlen_t i = 0;
        for (SEXP node = ATTRIB(x); node != R_NilValue; node = CDR(node)) {
            if (!is_internal(TAG(node))) all[i++] = PRINTNAME(TAG(node));
        }
        count = (uint64_t)n;
        keys = emit_keys(w, all, n);
        vmaxset(top);
    } else {
        if (step.below == BELOW_VECTOR || step.below >= BELOW_TEXT) {
            name(w, names[step.below]);
            count++;
        }
        switch (step.below) {
        case BELOW_VECTOR:
            emit(w, x, at, 1);
            at.position = 1;
            emit_attributes(w, x, at);
            if (IS_S4_OBJECT(x)) {
                scalar(w, ENT_CELL_TRUE, 0, 0);
                count++;
            }
            count += 2;
            break;
        case BELOW_TEXT: {
            SEXP dim = VECTOR_ELT(x, 1);
            array(w, step.pooled, dim == R_NilValue ? NULL : INTEGER(dim), (size_t)Rf_xlength(dim));
            array(w, numbers(w, ENT_KIND_RAW, RAW(VECTOR_ELT(x, 0)), Rf_xlength(VECTOR_ELT(x, 0))), NULL, 0);
            count += 2;
            break;
        }
        case BELOW_SYMBOL: {
            SEXP string = PROTECT(Rf_ScalarString(x == R_MissingArg ? R_BlankString : PRINTNAME(x)));
            emit_fresh(w, string, at);
            UNPROTECT(1);
            count++;
            break;
        }
        case BELOW_S4:
        case BELOW_EXPRESSION:
            at.position = -1;
            emit_attributes(w, x, at);
            count++;
            at.position = 0;
            if (step.below == BELOW_S4) break;
            /* fall through */
        default: {
            R_xlen_t n = Rf_xlength(x);
            for (; at.position < n; at.position++) {
                emit(w, VECTOR_ELT(x, at.position), at, 0);
                if ((at.position & 0xFFFFF) == 0xFFFFF) R_CheckUserInterrupt();
            }
            count += (uint64_t)n;
            if (step.below == BELOW_MAP) {
                SEXP keys_of = only(x, R_NamesSymbol);
                keys = emit_keys(w, (SEXP *)STRING_PTR_RO(keys_of), n);
            }
        }
        }
    }
    ent_cells_children(w->cells, step.place, first, count, keys);
}

/* A walker, with what takes apart the values that are not dealt with here. */
SEXP ent_c_walker(SEXP hook) {
    ent_failure *failure = NULL;
    walker *w = calloc(1, sizeof *w);
    if (w == NULL) Rf_error("not enough memory for a tree of values");
    SEXP pointer = PROTECT(ent_hold(w, free_walker, R_NilValue));
    w->self = pointer;
    w->hook = hook;
    keep(w, hook);
    w->cells = ent_cells_new(&failure);
    UNPROTECT(1);
    return w->cells == NULL ? ent_failed(failure) : pointer;
}

/* Adds a tree; the number of its cell. */
SEXP ent_c_walk(SEXP pointer, SEXP x) {
    walker *w = ent_held(pointer, "a tree of values");
    double number = (double)ent_cells_n(w->cells);
    at_t at = {-1, 1, 0};
    w->n_stack = w->n_fresh = w->n_frames = 0;
    keep(w, x);
    emit(w, x, at, 0);
    size_t steps = 0;
    for (;;) {
        /* What was met is looked at in its order. */
        w->stack = grown(w->stack, &w->room_stack, w->n_stack + w->n_fresh, sizeof *w->stack);
        while (w->n_fresh > 0) w->stack[w->n_stack++] = w->fresh[--w->n_fresh];
        if (w->n_stack == 0) break;
        step_t *top = &w->stack[w->n_stack - 1];
        if (top->below == BELOW_END) {
            ent_cells_end(w->cells, top->place);
            w->n_stack--;
            continue;
        }
        step_t step = *top;
        top->below = BELOW_END;
        expand(w, step);
        if (++steps % 65536 == 0) R_CheckUserInterrupt();
    }
    return Rf_ScalarReal(number);
}

/* Adds a list of references to cells; the number of its cell. */
SEXP ent_c_references(SEXP pointer, SEXP numbers) {
    walker *w = ent_held(pointer, "a tree of values");
    uint64_t number = ent_cells_n(w->cells);
    size_t place = parent(w, ENT_CELL_LIST);
    R_xlen_t n = Rf_xlength(numbers);
    for (R_xlen_t i = 0; i < n; i++) scalar(w, ENT_CELL_REFERENCE, (int64_t)REAL(numbers)[i], 0);
    ent_cells_children(w->cells, place, number + 1, (uint64_t)n, 0);
    ent_cells_end(w->cells, place);
    return Rf_ScalarReal((double)number);
}

/* Where the walker is: for each step what it is below, the position, and the name there; for error messages. */
SEXP ent_c_walk_place(SEXP pointer) {
    static const char *fields[] = {"below", "position", "name", ""};
    walker *w = ent_held(pointer, "a tree of values");
    R_xlen_t n = 0;
    for (int up = w->here.up; up >= 0; up = w->frames[up].at.up) n++;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP below = Rf_allocVector(INTSXP, n);
    SET_VECTOR_ELT(out, 0, below);
    SEXP position = Rf_allocVector(REALSXP, n);
    SET_VECTOR_ELT(out, 1, position);
    SEXP names = Rf_allocVector(STRSXP, n);
    SET_VECTOR_ELT(out, 2, names);
    at_t at = w->here;
    for (R_xlen_t i = n - 1; i >= 0; i--) {
        step_t *frame = &w->frames[at.up];
        INTEGER(below)[i] = frame->below == BELOW_ATTRIBUTES && TYPEOF(frame->object) == S4SXP ? BELOW_S4 : frame->below;
        REAL(position)[i] = (double)at.position;
        SET_STRING_ELT(names, i, NA_STRING);
        if (frame->below == BELOW_ATTRIBUTES) {
            R_xlen_t k = 0;
            for (SEXP node = ATTRIB(frame->object); node != R_NilValue; node = CDR(node)) {
                if (!is_internal(TAG(node)) && k++ == at.position) SET_STRING_ELT(names, i, PRINTNAME(TAG(node)));
            }
        } else if (frame->below == BELOW_LIST || frame->below == BELOW_MAP || frame->below == BELOW_PARTS) {
            SEXP of = Rf_getAttrib(frame->object, R_NamesSymbol);
            if (TYPEOF(of) == STRSXP && at.position < Rf_xlength(of)) SET_STRING_ELT(names, i, STRING_ELT(of, at.position));
        }
        at = frame->at;
    }
    UNPROTECT(1);
    return out;
}

ent_cells *ent_walked(SEXP pointer) {
    return pointer == R_NilValue ? NULL : ((walker *)ent_held(pointer, "a tree of values"))->cells;
}

/* The values of an environment by their names, as they are: promises are not evaluated. NULL for active bindings. */
SEXP ent_c_bindings(SEXP env, SEXP names) {
    R_xlen_t n = Rf_xlength(names);
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP symbol = Rf_installTrChar(STRING_ELT(names, i));
        if (!R_BindingIsActive(symbol, env)) SET_VECTOR_ELT(out, i, Rf_findVarInFrame3(env, symbol, TRUE));
    }
    UNPROTECT(1);
    return out;
}

/* Gives an environment the arguments of another one's `...`. */
SEXP ent_c_dots(SEXP env, SEXP from) {
    if (TYPEOF(env) != ENVSXP || TYPEOF(from) != ENVSXP) Rf_error("dots without an environment");
    SEXP dots = PROTECT(Rf_findVarInFrame3(from, R_DotsSymbol, TRUE));
    if (dots != R_UnboundValue) Rf_defineVar(R_DotsSymbol, dots, env);
    UNPROTECT(1);
    return R_NilValue;
}
