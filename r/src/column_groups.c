/* Groups columns of a frame that are planned together. */
#include "hash_table.h"

/* Longest attribute values to compare. Longer values are the same only if they are one vector. */
#define FEW 64

/* The attributes of an atomic vector, as a list or NULL. An atomic vector evaluates to itself, so
 * no code of the user runs. */
SEXP ent_attributes_of(SEXP x) {
    SEXP call = PROTECT(Rf_lang2(Rf_install("attributes"), x));
    SEXP found = Rf_eval(call, R_BaseEnv);
    UNPROTECT(1);
    return found;
}

static size_t width_of(SEXP x) {
    switch (TYPEOF(x)) {
    case RAWSXP: return 1;
    case LGLSXP:
    case INTSXP: return 4;
    case REALSXP: return 8;
    case STRSXP: return sizeof(SEXP);
    case CPLXSXP: return 16;
    default: return 0;
    }
}

static const void *memory_of(SEXP x) { return TYPEOF(x) == STRSXP ? (const void *)STRING_PTR_RO(x) : DATAPTR_RO(x); }

static int have_same_attributes(SEXP a, SEXP b, int are_factors, int depth);

/* Greatest depth of attributes to compare. */
#define DEEP 4

static int are_same_to(SEXP a, SEXP b, R_xlen_t most, int depth) {
    if (a == b) return 1;
    if (TYPEOF(a) != TYPEOF(b) || !Rf_isVectorAtomic(a) || Rf_isS4(a) != Rf_isS4(b)) return 0;
    R_xlen_t n = Rf_xlength(a);
    if (n != Rf_xlength(b) || n > most) return 0;
    if (n > 0 && memcmp(memory_of(a), memory_of(b), (size_t)n * width_of(a)) != 0) return 0;
    SEXP of_a = PROTECT(ent_attributes_of(a)), of_b = PROTECT(ent_attributes_of(b));
    int are_same = depth < DEEP && have_same_attributes(of_a, of_b, 0, depth + 1);
    UNPROTECT(2);
    return are_same;
}

/* Whether two vectors have the same values and attributes. R keeps equal strings of one encoding
 * once, so that addresses compare them. */
int ent_are_same(SEXP a, SEXP b, R_xlen_t most) { return are_same_to(a, b, most, 0); }

static uint64_t mixed(uint64_t hash, uint64_t with) { return ent_table_mix((hash << 5 | hash >> 59) ^ with); }

static uint64_t hash_strings(SEXP x, uint64_t hash) {
    R_xlen_t n = Rf_xlength(x);
    for (R_xlen_t i = 0; i < n && i < FEW; i++) hash = mixed(hash, (uint64_t)(uintptr_t)STRING_ELT(x, i));
    return hash;
}

/* Hashes the values of an attribute and its names. Vectors that are not compared by value are
 * hashed by address. */
static uint64_t hash_values(SEXP x, uint64_t hash) {
    R_xlen_t n = Rf_xlength(x);
    if (x == R_NilValue) return mixed(hash, 0);
    if (!Rf_isVectorAtomic(x) || n > FEW) return mixed(hash, (uint64_t)(uintptr_t)x);
    hash = mixed(hash, (uint64_t)TYPEOF(x) << 48 ^ (uint64_t)n);
    if (TYPEOF(x) == STRSXP) {
        hash = hash_strings(x, hash);
    } else if (n > 0) {
        const char *bytes = memory_of(x), *end = bytes + (size_t)n * width_of(x);
        for (; bytes < end; bytes += 8) {
            uint64_t bits = 0;
            memcpy(&bits, bytes, end - bytes < 8 ? (size_t)(end - bytes) : 8);
            hash = mixed(hash, bits);
        }
    }
    SEXP names = Rf_getAttrib(x, R_NamesSymbol);
    return TYPEOF(names) == STRSXP ? hash_strings(names, hash) : hash;
}

/* Whether attributes are those of a factor. A dictionary column has the levels, so factors of one
 * group may have different levels. */
static int are_of_factor(SEXP x, SEXP attributes) {
    if (TYPEOF(x) != INTSXP || attributes == R_NilValue) return 0;
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    int is_factor = 0, has_levels = 0;
    for (R_xlen_t i = 0; i < Rf_xlength(attributes); i++) {
        SEXP value = VECTOR_ELT(attributes, i);
        const char *name = CHAR(STRING_ELT(names, i));
        if (TYPEOF(value) != STRSXP) continue;
        if (strcmp(name, "levels") == 0) has_levels = ent_attributes_of(value) == R_NilValue;
        if (strcmp(name, "class") != 0) continue;
        for (R_xlen_t k = 0; k < Rf_xlength(value); k++) is_factor |= strcmp(CHAR(STRING_ELT(value, k)), "factor") == 0;
    }
    return is_factor && has_levels;
}

static int are_levels(SEXP names, R_xlen_t i) { return strcmp(CHAR(STRING_ELT(names, i)), "levels") == 0; }

static uint64_t hash_attributes(SEXP attributes, int is_factor, uint64_t hash) {
    if (attributes == R_NilValue) return hash;
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(attributes); i++) {
        hash = mixed(hash, (uint64_t)(uintptr_t)STRING_ELT(names, i));
        if (!is_factor || !are_levels(names, i)) hash = hash_values(VECTOR_ELT(attributes, i), hash);
    }
    return hash;
}

/* Whether attributes are the same, in the same order. Ignores the levels of factors. */
static int have_same_attributes(SEXP a, SEXP b, int are_factors, int depth) {
    if (a == R_NilValue || b == R_NilValue) return a == b;
    R_xlen_t n = Rf_xlength(a);
    if (n != Rf_xlength(b)) return 0;
    SEXP names = Rf_getAttrib(a, R_NamesSymbol), others = Rf_getAttrib(b, R_NamesSymbol);
    for (R_xlen_t i = 0; i < n; i++) {
        if (STRING_ELT(names, i) != STRING_ELT(others, i)) return 0;
        if (are_factors && are_levels(names, i)) continue;
        if (!are_same_to(VECTOR_ELT(a, i), VECTOR_ELT(b, i), FEW, depth)) return 0;
    }
    return 1;
}

/* A hash table of group numbers, at most half full. */
typedef struct {
    int *group;
    uint64_t *hash;
    size_t room;
} slots_t;

static slots_t slots_for(R_xlen_t n) {
    slots_t slots = {.room = 16};
    while (slots.room < 2 * (size_t)n) slots.room *= 2;
    slots.group = (int *)R_alloc(slots.room, sizeof *slots.group);
    slots.hash = (uint64_t *)R_alloc(slots.room, sizeof *slots.hash);
    memset(slots.group, 0, slots.room * sizeof *slots.group);
    return slots;
}

/* Attributes that decide the kind of a column, besides the levels of factors. */
static const char *const of_kind[] = {"class", "tzone", "units"};
#define N_OF_KIND (sizeof of_kind / sizeof *of_kind)

static SEXP named(SEXP attributes, const char *name) {
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(attributes); i++) {
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(attributes, i);
    }
    return R_NilValue;
}

/* Kinds of columns: groups whose attributes decide on the same kind. */
typedef struct {
    slots_t slots;
    int *first; /* the first group of each kind */
    uint64_t *type;
    int n;
} kinds_t;

/* The number of the kind of group `number`. `all` has the attributes of groups. */
static int kind_of(kinds_t *kinds, SEXP attributes, uint64_t type, SEXP all, int number) {
    slots_t *slots = &kinds->slots;
    uint64_t hash = mixed(1, type);
    for (size_t k = 0; k < N_OF_KIND; k++) hash = hash_values(named(attributes, of_kind[k]), hash);
    size_t at = ent_table_slot(hash, slots->room);
    for (; slots->group[at] != 0; at = (at + 1) & (slots->room - 1)) {
        int like = slots->group[at] - 1;
        if (slots->hash[at] != hash || kinds->type[like] != type) continue;
        SEXP others = VECTOR_ELT(all, kinds->first[like]);
        int are_same = 1;
        for (size_t k = 0; k < N_OF_KIND && are_same; k++) {
            are_same = ent_are_same(named(attributes, of_kind[k]), named(others, of_kind[k]), FEW);
        }
        if (are_same) break;
    }
    if (slots->group[at] == 0) {
        slots->hash[at] = hash;
        kinds->first[kinds->n] = number;
        kinds->type[kinds->n] = type;
        slots->group[at] = ++kinds->n;
    }
    return slots->group[at];
}

static SEXP grouped(SEXP group, SEXP first, int n, SEXP attributes, SEXP kind) {
    static const char *names[] = {"group", "first", "attributes", "kind", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(out, 0, group);
    SET_VECTOR_ELT(out, 1, Rf_lengthgets(first, n));
    SET_VECTOR_ELT(out, 2, attributes);
    SET_VECTOR_ELT(out, 3, kind);
    UNPROTECT(1);
    return out;
}

/* Groups the columns that are atomic vectors of `n_rows` values without dimensions: by type, and
 * by attributes other than the levels of factors. Returns a list: `group` has for each column the
 * number of its group, or 0. For each group there are its `first` column, the `attributes` of that
 * column, and the number of its `kind`, which chooses the type of column in the file. */
SEXP ent_c_groups(SEXP x, SEXP n_rows) {
    R_xlen_t n = Rf_xlength(x);
    if (TYPEOF(x) != VECSXP || n > INT_MAX) Rf_error("columns are not a list");
    double rows = Rf_asReal(n_rows);
    SEXP group = PROTECT(Rf_allocVector(INTSXP, n)), first = PROTECT(Rf_allocVector(INTSXP, n));
    SEXP all = PROTECT(Rf_allocVector(VECSXP, n)), kind = PROTECT(Rf_allocVector(INTSXP, n));
    slots_t slots = slots_for(n);
    kinds_t kinds = {.slots = slots_for(n)};
    kinds.first = (int *)R_alloc((size_t)n + 1, sizeof *kinds.first);
    kinds.type = (uint64_t *)R_alloc((size_t)n + 1, sizeof *kinds.type);
    int n_groups = 0, plain[32] = {0};
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP column = VECTOR_ELT(x, i);
        INTEGER(group)[i] = 0;
        if (!Rf_isVectorAtomic(column) || (double)Rf_xlength(column) != rows) continue;
        if (Rf_getAttrib(column, R_DimSymbol) != R_NilValue) continue;
        SEXP attributes = PROTECT(ent_attributes_of(column));
        int is_s4 = Rf_isS4(column), *found = &plain[TYPEOF(column)];
        int is_factor = are_of_factor(column, attributes);
        uint64_t type = (uint64_t)TYPEOF(column) << 2 | (uint64_t)is_s4 << 1 | (uint64_t)is_factor;
        if (attributes != R_NilValue || is_s4) {
            uint64_t hash = hash_attributes(attributes, is_factor, type);
            size_t at = ent_table_slot(hash, slots.room);
            for (; slots.group[at] != 0; at = (at + 1) & (slots.room - 1)) {
                if (slots.hash[at] != hash) continue;
                SEXP like = VECTOR_ELT(x, INTEGER(first)[slots.group[at] - 1] - 1),
                     others = VECTOR_ELT(all, slots.group[at] - 1);
                if (TYPEOF(like) != TYPEOF(column) || Rf_isS4(like) != is_s4 ||
                    are_of_factor(like, others) != is_factor)
                    continue;
                if (have_same_attributes(others, attributes, is_factor, 0)) break;
            }
            slots.hash[at] = hash;
            found = &slots.group[at];
        }
        if (*found == 0) {
            SET_VECTOR_ELT(all, n_groups, attributes);
            INTEGER(first)[n_groups] = (int)i + 1;
            INTEGER(kind)[n_groups] = kind_of(&kinds, attributes, type, all, n_groups);
            *found = ++n_groups;
        }
        INTEGER(group)[i] = *found;
        UNPROTECT(1);
    }
    all = PROTECT(Rf_lengthgets(all, n_groups));
    kind = PROTECT(Rf_lengthgets(kind, n_groups));
    SEXP out = grouped(group, first, n_groups, all, kind);
    UNPROTECT(6);
    return out;
}

/* Groups character vectors by their strings, and lists by their addresses. */
SEXP ent_c_distinct(SEXP x) {
    R_xlen_t n = Rf_xlength(x);
    SEXP group = PROTECT(Rf_allocVector(INTSXP, n)), first = PROTECT(Rf_allocVector(INTSXP, n));
    slots_t slots = slots_for(n);
    int n_groups = 0;
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP strings = VECTOR_ELT(x, i);
        uint64_t hash = TYPEOF(strings) == STRSXP ? hash_strings(strings, (uint64_t)Rf_xlength(strings))
                                                  : mixed(1, (uint64_t)(uintptr_t)strings);
        size_t at = ent_table_slot(hash, slots.room);
        for (; slots.group[at] != 0; at = (at + 1) & (slots.room - 1)) {
            SEXP like = VECTOR_ELT(x, INTEGER(first)[slots.group[at] - 1] - 1);
            if (slots.hash[at] == hash && ent_are_same(like, strings, R_XLEN_T_MAX)) break;
        }
        slots.hash[at] = hash;
        if (slots.group[at] == 0) {
            INTEGER(first)[n_groups] = (int)i + 1;
            slots.group[at] = ++n_groups;
        }
        INTEGER(group)[i] = slots.group[at];
    }
    SEXP out = grouped(group, first, n_groups, R_NilValue, R_NilValue);
    UNPROTECT(2);
    return out;
}
