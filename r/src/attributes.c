/* Attributes of values in order. R exposes them only by calling a function for each. */
#include "values.h"

static SEXP collect(SEXP name, SEXP value, void *data) {
    ent_attributes *out = data;
    if (out->n == out->room) {
        ent_attribute *more = (ent_attribute *)R_alloc(2 * out->room, sizeof *more);
        memcpy(more, out->all, out->n * sizeof *more);
        out->all = more;
        out->room *= 2;
    }
    out->all[out->n++] = (ent_attribute){name, value};
    return NULL;
}

/* Collects a value's attributes, which the value protects. A long list is in memory of R_alloc. */
void ent_collect_attributes(SEXP x, ent_attributes *out) {
    out->all = out->few;
    out->n = 0;
    out->room = sizeof out->few / sizeof *out->few;
    R_mapAttrib(x, collect, out);
}

typedef struct {
    const ent_attributes *others;
    size_t n;
    int (*are_same)(SEXP, SEXP);
} comparison;

static SEXP compare(SEXP name, SEXP value, void *data) {
    comparison *c = data;
    if (c->n == c->others->n) return R_NilValue;
    const ent_attribute *other = &c->others->all[c->n++];
    return name == other->name && c->are_same(value, other->value) ? NULL : R_NilValue;
}

/* Whether a value has the same attributes in the same order, where `are_same` compares two values.
 */
int ent_has_attributes(SEXP x, const ent_attributes *others, int (*are_same)(SEXP, SEXP)) {
    comparison c = {others, 0, are_same};
    return R_mapAttrib(x, compare, &c) == NULL && c.n == others->n;
}

typedef struct {
    SEXP name, value;
    int n;
} search;

static SEXP find_only(SEXP name, SEXP value, void *data) {
    search *s = data;
    if (++s->n > 1 || name != s->name) return R_NilValue;
    s->value = value;
    return NULL;
}

/* The attribute `name` if it is the only one, else NULL. */
SEXP ent_only_attribute(SEXP x, SEXP name) {
    search s = {name, NULL, 0};
    return R_mapAttrib(x, find_only, &s) == NULL ? s.value : NULL;
}
