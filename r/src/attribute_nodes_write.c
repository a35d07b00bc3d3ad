/* Writes descriptions of columns: attributes become nodes without a tree of R lists.
 *
 * Attributes are plain if they and their own attributes are short atomic vectors that nodes hold
 * exactly. R/encode_values.R encodes the others, and defines what nodes hold. Both give the same
 * nodes.
 *
 * Plain attributes are a list with names, of class `entasis_attributes`. Each item is the value,
 * NULL for levels that are in the column, or a list of a value and its plain attributes.
 */
#include "values.h"

/* Vectors with more values are columns: `INLINE` in R/encode_values.R. */
#define INLINE 32

static int is_shown(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < ' ' || c > '~') && c != '\t' && c != '\r' && c != '\n') return 0;
    }
    return 1;
}

/* Whether a node holds a string: printable ASCII, or valid text that R marks as UTF-8. */
static int is_text(SEXP string) {
    ent_chars chars = ent_chars_of(string);
    return is_shown(chars.start, chars.len) || (Rf_getCharCE(string) == CE_UTF8 && ent_is_utf8(chars));
}

/* The key of a vector's type in its node; NULL for types that nodes do not hold. */
static const char *key_of(SEXP x) {
    switch (TYPEOF(x)) {
    case LGLSXP: return "logical";
    case INTSXP: return "integer";
    case REALSXP: return "double";
    case STRSXP: return "character";
    default: return NULL;
    }
}

static int are_inline(SEXP x) {
    if (key_of(x) == NULL || Rf_xlength(x) > INLINE || Rf_isS4(x)) return 0;
    if (TYPEOF(x) != STRSXP) return 1;
    for (R_xlen_t i = 0; i < Rf_xlength(x); i++) {
        if (STRING_ELT(x, i) != NA_STRING && !is_text(STRING_ELT(x, i))) return 0;
    }
    return 1;
}

static int has_name(SEXP names, R_xlen_t i, const char *name) { return strcmp(CHAR(STRING_ELT(names, i)), name) == 0; }

static SEXP plain_attributes(SEXP attributes, int has_levels);

/* A value as an item of plain attributes; a null pointer if it is not plain. */
static SEXP plain_value(SEXP x) {
    if (!are_inline(x)) return NULL;
    SEXP attributes = PROTECT(ent_attributes_of(x));
    if (attributes == R_NilValue) {
        UNPROTECT(1);
        return x;
    }
    attributes = PROTECT(plain_attributes(attributes, 0));
    SEXP out = NULL;
    if (attributes != R_NilValue) {
        out = Rf_allocVector(VECSXP, 2);
        SET_VECTOR_ELT(out, 0, x);
        SET_VECTOR_ELT(out, 1, attributes);
    }
    UNPROTECT(2);
    return out;
}

/* Plain attributes, in their order; NULL if some are not plain. `has_levels` leaves out the value
 * of levels, which the column has. data.table makes a new `.internal.selfref` itself. */
static SEXP plain_attributes(SEXP attributes, int has_levels) {
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    R_xlen_t n = Rf_xlength(attributes), n_kept = 0;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n)), kept = PROTECT(Rf_allocVector(STRSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        if (has_name(names, i, ".internal.selfref")) continue;
        SEXP value = R_NilValue;
        if (!has_levels || !has_name(names, i, "levels")) value = plain_value(VECTOR_ELT(attributes, i));
        if (value == NULL || !is_text(STRING_ELT(names, i))) {
            UNPROTECT(2);
            return R_NilValue;
        }
        SET_VECTOR_ELT(out, n_kept, value);
        SET_STRING_ELT(kept, n_kept++, STRING_ELT(names, i));
    }
    if (n_kept < n) {
        out = PROTECT(Rf_xlengthgets(out, n_kept));
        kept = PROTECT(Rf_xlengthgets(kept, n_kept));
    }
    Rf_setAttrib(out, R_NamesSymbol, kept);
    Rf_setAttrib(out, R_ClassSymbol, PROTECT(Rf_mkString("entasis_attributes")));
    UNPROTECT(n_kept < n ? 5 : 3);
    return out;
}

/* Whether attributes are the ones a column's kind implies, where NULL matches any value. */
static int are_implied(SEXP attributes, SEXP implied) {
    R_xlen_t n = Rf_xlength(implied);
    if (n != Rf_xlength(attributes)) return 0;
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol), others = Rf_getAttrib(implied, R_NamesSymbol);
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP expected = VECTOR_ELT(implied, i);
        if (STRING_ELT(names, i) != STRING_ELT(others, i)) return 0;
        if (expected == R_NilValue) continue;
        if (!ent_are_same(VECTOR_ELT(attributes, i), expected, R_XLEN_T_MAX)) return 0;
    }
    return 1;
}

static int have_levels(SEXP implied) {
    SEXP names = Rf_getAttrib(implied, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(implied); i++) {
        if (has_name(names, i, "levels")) return 1;
    }
    return 0;
}

/* Descriptions of columns in groups, as `ent_c_groups` gives them. `implied` has the attributes
 * that each kind's type records, for the columns that `fits` marks. Returns a list: `description`
 * has for each column the number of its description, or 0. `descriptions` holds the descriptions.
 * `left` has one column for each NULL description, which R code has to make. */
SEXP ent_c_describe_groups(SEXP x, SEXP groups, SEXP implied, SEXP fits) {
    static const char *fields[] = {"description", "descriptions", "left", ""};
    static const char *description_fields[] = {"attributes", ""};
    SEXP all = ent_element(groups, "attributes");
    const int *group = INTEGER(ent_element(groups, "group"));
    const int *kind = INTEGER(ent_element(groups, "kind"));
    R_xlen_t n = Rf_xlength(x), n_most = 2 * Rf_xlength(all), n_made = 0, n_left = 0;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP description = Rf_allocVector(INTSXP, n);
    SET_VECTOR_ELT(out, 0, description);
    SEXP made = PROTECT(Rf_allocVector(VECSXP, n_most));
    SEXP left = PROTECT(Rf_allocVector(INTSXP, n_most));
    /* By group, and whether the column fits: the number of the description, or -1 for none. */
    int *known = (int *)R_alloc((size_t)n_most + 1, sizeof *known);
    memset(known, 0, ((size_t)n_most + 1) * sizeof *known);
    for (R_xlen_t i = 0; i < n; i++) {
        INTEGER(description)[i] = 0;
        if (group[i] == 0) continue;
        int does_fit = LOGICAL(fits)[i] == TRUE, *found = &known[2 * (group[i] - 1) + does_fit];
        if (*found == 0) {
            SEXP attributes = VECTOR_ELT(all, group[i] - 1);
            SEXP by_kind = does_fit ? VECTOR_ELT(implied, kind[group[i] - 1] - 1) : R_NilValue;
            int is_s4 = Rf_isS4(VECTOR_ELT(x, i));
            if (!is_s4 && are_implied(attributes, by_kind)) {
                *found = -1;
            } else {
                SEXP plain = R_NilValue;
                if (!is_s4) plain = plain_attributes(attributes, have_levels(by_kind));
                PROTECT(plain);
                if (plain == R_NilValue) {
                    INTEGER(left)[n_left++] = (int)i + 1;
                } else {
                    SET_VECTOR_ELT(made, n_made, Rf_mkNamed(VECSXP, description_fields));
                    SET_VECTOR_ELT(VECTOR_ELT(made, n_made), 0, plain);
                }
                UNPROTECT(1);
                *found = (int)++n_made;
            }
        }
        if (*found > 0) INTEGER(description)[i] = *found;
    }
    SET_VECTOR_ELT(out, 1, Rf_xlengthgets(made, n_made));
    SET_VECTOR_ELT(out, 2, Rf_xlengthgets(left, n_left));
    UNPROTECT(3);
    return out;
}

/* How many nodes plain attributes become. */
size_t ent_count_plain(SEXP attributes) {
    size_t total = 1;
    for (R_xlen_t i = 0; i < Rf_xlength(attributes); i++) {
        SEXP value = VECTOR_ELT(attributes, i);
        if (TYPEOF(value) == VECSXP) {
            total += 1 + ent_count_plain(VECTOR_ELT(value, 1));
            value = VECTOR_ELT(value, 0);
        }
        total += value == R_NilValue ? 3 : 5 + (size_t)Rf_xlength(value);
    }
    return total;
}

static ent_node *put_parent(int kind, R_xlen_t n, ent_node *at) {
    *at = (ent_node){.kind = kind, .n = (int)n};
    return at + 1;
}

static ent_node *put_key(const char *key, ent_node *at) {
    *at = (ent_node){.kind = ENT_STRING, .text = {key, strlen(key)}};
    return at + 1;
}

static ent_node *put_item(SEXP x, R_xlen_t i, ent_node *at) {
    *at = (ent_node){.kind = ENT_NULL};
    switch (TYPEOF(x)) {
    case LGLSXP:
        if (LOGICAL(x)[i] != NA_LOGICAL) at->kind = LOGICAL(x)[i] ? ENT_TRUE : ENT_FALSE;
        break;
    case INTSXP:
        if (INTEGER(x)[i] == NA_INTEGER) break;
        *at = (ent_node){.kind = ENT_INTEGER, .integer = INTEGER(x)[i]};
        break;
    case REALSXP:
        at->kind = ENT_FLOAT;
        memcpy(&at->number, REAL(x) + i, sizeof at->number);
        break;
    default:
        if (STRING_ELT(x, i) == NA_STRING) break;
        *at = (ent_node){.kind = ENT_STRING, .text = ent_chars_of(STRING_ELT(x, i))};
    }
    return at + 1;
}

/* Puts plain attributes as nodes: a list of pairs. Returns the end of the nodes. */
ent_node *ent_put_plain(SEXP attributes, ent_node *at) {
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    R_xlen_t n = Rf_xlength(attributes);
    at = put_parent(ENT_LIST, n, at);
    for (R_xlen_t i = 0; i < n; i++) {
        at = put_parent(ENT_LIST, 2, at);
        *at++ = (ent_node){.kind = ENT_STRING, .text = ent_chars_of(STRING_ELT(names, i))};
        SEXP value = VECTOR_ELT(attributes, i), own = R_NilValue;
        if (value == R_NilValue) {
            at = put_parent(ENT_NULL, 0, at);
            continue;
        }
        if (TYPEOF(value) == VECSXP) {
            own = VECTOR_ELT(value, 1);
            value = VECTOR_ELT(value, 0);
        }
        at = put_parent(ENT_MAP, own == R_NilValue ? 1 : 2, at);
        at = put_key(key_of(value), at);
        at = put_parent(ENT_LIST, Rf_xlength(value), at);
        for (R_xlen_t k = 0; k < Rf_xlength(value); k++) at = put_item(value, k, at);
        if (own != R_NilValue) at = ent_put_plain(own, put_key("attributes", at));
    }
    return at;
}
