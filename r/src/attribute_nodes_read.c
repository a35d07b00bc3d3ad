/* Reads descriptions of columns: nodes become attributes without a tree of R lists.
 *
 * If a description holds only attributes of the forms that attribute_nodes_write.c writes, it
 * becomes a list whose `attributes` have class `entasis_decoded`: the values by name, NULL for
 * levels that are in the column. R code decodes all others, and refuses invalid ones.
 * Columns with equal descriptions share one object.
 */
#include "hash_table.h"

/* The first node after a node and its children. */
static const ent_node *after(const ent_node *at, const ent_node *end) {
    for (size_t n_left = 1; n_left > 0; n_left--, at++) {
        if (at >= end) Rf_error("a tree without an end");
        if (at->kind == ENT_LIST) n_left += (size_t)at->n;
        if (at->kind == ENT_MAP) n_left += 2 * (size_t)at->n;
    }
    return at;
}

static int is_text(const ent_node *at, const char *text) {
    size_t len = strlen(text);
    return at->kind == ENT_STRING && at->text.len == len && memcmp(at->text.start, text, len) == 0;
}

/* Strings of R have no zero bytes. */
static int is_string(const ent_node *at) {
    if (at->kind != ENT_STRING || at->text.len > INT_MAX) return 0;
    return at->text.len == 0 || memchr(at->text.start, 0, at->text.len) == NULL;
}

/* The type of the vector of a key; NILSXP for other keys. */
static SEXPTYPE type_of(const ent_node *key) {
    if (is_text(key, "character")) return STRSXP;
    if (is_text(key, "double")) return REALSXP;
    if (is_text(key, "integer")) return INTSXP;
    return is_text(key, "logical") ? LGLSXP : NILSXP;
}

/* Whether a node is a vector element, where null means NA. */
static int is_item(const ent_node *at, SEXPTYPE type) {
    if (at->kind == ENT_NULL) return 1;
    switch (type) {
    case STRSXP: return is_string(at);
    case REALSXP: return at->kind == ENT_FLOAT;
    case INTSXP: return at->kind == ENT_INTEGER && at->integer > INT_MIN && at->integer <= INT_MAX;
    default: return at->kind == ENT_FALSE || at->kind == ENT_TRUE;
    }
}

static const ent_node *plain_value(const ent_node *at);

/* The first node after the attributes of an attribute of `n` values. NULL if R would check an
 * attribute: setting it could raise an error, but only reading the column may fail, not opening the
 * file. */
static const ent_node *plain_own(const ent_node *at, int n) {
    static const char *const checked[] = {"class", "dim", "dimnames", "tsp", "comment", "row.names"};
    if (at->kind != ENT_LIST) return NULL;
    int n_pairs = at->n;
    at++;
    for (int i = 0; i < n_pairs; i++) {
        const ent_node *name = at + 1, *value = at + 2;
        if (at->kind != ENT_LIST || at->n != 2 || !is_string(name) || name->text.len == 0) return NULL;
        for (size_t k = 0; k < sizeof checked / sizeof *checked; k++) {
            if (is_text(name, checked[k])) return NULL;
        }
        at = plain_value(value);
        if (at == NULL) return NULL;
        if (!is_text(name, "names")) continue;
        if (value->n != 1 || !is_text(value + 1, "character") || value[2].n != n) return NULL;
    }
    return at;
}

/* The first node after a vector and its attributes; NULL for forms that attribute_nodes_write.c
 * does not write. */
static const ent_node *plain_value(const ent_node *at) {
    int n_keys = at->n;
    if (at->kind != ENT_MAP || n_keys < 1 || n_keys > 2) return NULL;
    SEXPTYPE type = type_of(at + 1);
    const ent_node *list = at + 2;
    if (type == NILSXP || list->kind != ENT_LIST) return NULL;
    at = list + 1;
    for (int i = 0; i < list->n; i++) {
        if (!is_item(at++, type)) return NULL;
    }
    if (n_keys == 1) return at;
    return is_text(at, "attributes") ? plain_own(at + 1, list->n) : NULL;
}

/* Whether a description holds attributes alone, each a vector or null. */
static int is_plain(const ent_node *at) {
    if (at->kind != ENT_MAP || at->n != 1 || !is_text(at + 1, "attributes") || at[2].kind != ENT_LIST) return 0;
    int n = at[2].n;
    at += 3;
    for (int i = 0; i < n; i++) {
        if (at->kind != ENT_LIST || at->n != 2 || !is_string(at + 1) || at[1].text.len == 0) return 0;
        at = at[2].kind == ENT_NULL ? at + 3 : plain_value(at + 2);
        if (at == NULL) return 0;
    }
    return 1;
}

static void set_item(SEXP x, R_xlen_t i, const ent_node *at) {
    int is_missing = at->kind == ENT_NULL;
    switch (TYPEOF(x)) {
    case STRSXP: SET_STRING_ELT(x, i, is_missing ? NA_STRING : ent_char(at->text)); break;
    case REALSXP: REAL(x)[i] = is_missing ? NA_REAL : at->number; break;
    case INTSXP: INTEGER(x)[i] = is_missing ? NA_INTEGER : (int)at->integer; break;
    default: LOGICAL(x)[i] = is_missing ? NA_LOGICAL : at->kind == ENT_TRUE;
    }
}

/* The vector that a plain value is. */
static SEXP make_value(const ent_node **at) {
    const ent_node *map = *at;
    int n = map[2].n;
    SEXP out = PROTECT(Rf_allocVector(type_of(map + 1), n));
    *at = map + 3;
    for (int i = 0; i < n; i++) set_item(out, i, (*at)++);
    if (map->n == 2) {
        int n_own = (*at)[1].n;
        *at += 2;
        for (int i = 0; i < n_own; i++) {
            SEXP name = PROTECT(Rf_installTrChar(PROTECT(ent_char((*at)[1].text))));
            *at += 2;
            SEXP value = PROTECT(make_value(at));
            Rf_setAttrib(out, name, value);
            UNPROTECT(3);
        }
    }
    UNPROTECT(1);
    return out;
}

static SEXP make_attributes(const ent_node *at) {
    static const char *fields[] = {"attributes", ""};
    int n = at[2].n;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields)), values = Rf_allocVector(VECSXP, n);
    SET_VECTOR_ELT(out, 0, values);
    SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
    at += 3;
    for (int i = 0; i < n; i++) {
        SET_STRING_ELT(names, i, ent_char(at[1].text));
        at += 2;
        if (at->kind == ENT_NULL) at++;
        else SET_VECTOR_ELT(values, i, make_value(&at));
    }
    Rf_setAttrib(values, R_NamesSymbol, names);
    Rf_setAttrib(values, R_ClassSymbol, PROTECT(Rf_mkString("entasis_decoded")));
    UNPROTECT(3);
    return out;
}

typedef struct {
    uint64_t hash; /* 0: free */
    const ent_node *at, *end;
    SEXP value;
} known_t;

static uint64_t mixed(uint64_t hash, uint64_t with) { return ent_table_mix((hash << 5 | hash >> 59) ^ with); }

static uint64_t hash_nodes(const ent_node *at, const ent_node *end) {
    uint64_t hash = 1;
    for (; at < end; at++) {
        uint64_t number;
        memcpy(&number, &at->number, sizeof number);
        hash = mixed(hash, (uint64_t)at->kind << 32 ^ (uint64_t)(uint32_t)at->n);
        hash = mixed(hash, (uint64_t)at->integer ^ number);
        for (size_t i = 0; i < at->text.len; i++) hash = mixed(hash, (unsigned char)at->text.start[i]);
    }
    return hash | 1;
}

static int are_equal(const ent_node *a, const ent_node *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (a[i].kind != b[i].kind || a[i].n != b[i].n || a[i].integer != b[i].integer) return 0;
        if (memcmp(&a[i].number, &b[i].number, sizeof a[i].number) != 0 || a[i].text.len != b[i].text.len) return 0;
        if (a[i].text.len > 0 && memcmp(a[i].text.start, b[i].text.start, a[i].text.len) != 0) return 0;
    }
    return 1;
}

/* The columns with descriptions in the map of a host: a list of pairs. `at` is at the list. */
SEXP ent_take_columns(const ent_node **at, const ent_node *end) {
    R_xlen_t n = (*at)->n;
    (*at)++;
    size_t room = 16;
    while (room < 2 * (size_t)n) room *= 2;
    known_t *known = (known_t *)R_alloc(room, sizeof *known);
    memset(known, 0, room * sizeof *known);
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        const ent_node *pair = *at, *stop = after(pair, end);
        int is_pair = pair->kind == ENT_LIST && pair->n == 2 && pair[1].kind == ENT_INTEGER;
        if (!is_pair || pair[2].kind != ENT_MAP) {
            SET_VECTOR_ELT(out, i, ent_take(at, end));
            continue;
        }
        SEXP entry = Rf_allocVector(VECSXP, 2);
        SET_VECTOR_ELT(out, i, entry);
        (*at)++;
        SET_VECTOR_ELT(entry, 0, ent_take(at, end));
        uint64_t hash = hash_nodes(*at, stop);
        size_t slot = ent_table_slot(hash, room);
        for (; known[slot].hash != 0; slot = (slot + 1) & (room - 1)) {
            const known_t *one = &known[slot];
            if (one->hash != hash || one->end - one->at != stop - *at) continue;
            if (are_equal(one->at, *at, (size_t)(stop - *at))) break;
        }
        if (known[slot].hash == 0) {
            const ent_node *from = *at;
            SEXP value = PROTECT(is_plain(from) ? make_attributes(from) : ent_take(&from, end));
            known[slot] = (known_t){hash, *at, stop, value};
            SET_VECTOR_ELT(entry, 1, value);
            UNPROTECT(1);
        } else {
            SET_VECTOR_ELT(entry, 1, known[slot].value);
        }
        *at = stop;
    }
    UNPROTECT(1);
    return out;
}
