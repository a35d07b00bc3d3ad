/* Finds equal symbols, calls and attributes in a tree, which are stored once. Vectors are compared
 * by value, environments by address. A value that contains anything else (a function, an external
 * pointer, an S4 object) equals no other.
 *
 * Hashes may depend on addresses. A match is confirmed by comparing values, so the file never
 * depends on addresses.
 */
#include "hash_table.h"

/* Most values, and bytes of vectors, that one lookup hashes. Larger values are looked up part by
 * part. */
#define MOST_VALUES 512
#define MOST_BYTES 65536
/* Most values in a table, which bounds its memory. */
#define MOST_KEPT (1 << 18)
/* Lookups before a table with fewer hits than one in FEW is given up. */
#define LOOKS 1024
#define FEW 16

typedef struct {
    uint64_t hash;
    int n_left;
    R_xlen_t bytes_left;
} look;

static void add(look *l, uint64_t bits) {
    uint64_t mixed = ent_table_mix(l->hash ^ bits);
    l->hash = mixed ^ mixed >> 29;
}

/* Adds the bytes of an atomic vector. Equal strings have equal addresses in R. */
static int add_bytes(look *l, SEXP x) {
    size_t len = (size_t)Rf_xlength(x) * ent_type_width(TYPEOF(x));
    if ((R_xlen_t)len > l->bytes_left) return 0;
    l->bytes_left -= (R_xlen_t)len;
    if (len == 0) return 1;
    const char *bytes = ent_memory_read(x);
    for (; len >= 8; len -= 8, bytes += 8) {
        uint64_t bits;
        memcpy(&bits, bytes, 8);
        add(l, bits);
    }
    uint64_t rest = 0;
    memcpy(&rest, bytes, len);
    add(l, rest);
    return 1;
}

static int add_attributes(look *l, SEXP x);

/* Adds a value to a hash. Returns 0 for a value that is too large, or contains something that
 * equals nothing else. */
static int add_value(look *l, SEXP x) {
    if (--l->n_left < 0) return 0;
    int type = TYPEOF(x);
    add(l, (uint64_t)type);
    switch (type) {
    case NILSXP: return 1;
    case SYMSXP:
    case ENVSXP: add(l, (uint64_t)(uintptr_t)x); return 1;
    case LANGSXP:
    case LISTSXP:
        if (!add_attributes(l, x)) return 0;
        for (; TYPEOF(x) == LANGSXP || TYPEOF(x) == LISTSXP; x = CDR(x)) {
            if (!add_value(l, CAR(x))) return 0;
            add(l, (uint64_t)(uintptr_t)TAG(x));
        }
        return x == R_NilValue;
    case LGLSXP:
    case INTSXP:
    case REALSXP:
    case CPLXSXP:
    case RAWSXP:
    case STRSXP:
        if (Rf_isS4(x)) return 0;
        add(l, (uint64_t)Rf_xlength(x));
        if (!add_bytes(l, x)) return 0;
        break;
    case VECSXP: {
        if (Rf_isS4(x)) return 0;
        R_xlen_t n = Rf_xlength(x);
        add(l, (uint64_t)n);
        for (R_xlen_t i = 0; i < n; i++) {
            if (!add_value(l, VECTOR_ELT(x, i))) return 0;
        }
        break;
    }
    default: return 0;
    }
    return add_attributes(l, x);
}

static SEXP add_attribute(SEXP name, SEXP value, void *data) {
    if (!add_value(data, value)) return R_NilValue;
    add(data, (uint64_t)(uintptr_t)name);
    return NULL;
}

static int add_attributes(look *l, SEXP x) {
    if (!ANY_ATTRIB(x)) return 1;
    if (--l->n_left < 0) return 0;
    add(l, LISTSXP);
    return R_mapAttrib(x, add_attribute, l) == NULL;
}

static int are_equal(SEXP a, SEXP b);

static int have_equal_attributes(SEXP a, SEXP b) {
    if (!ANY_ATTRIB(a) || !ANY_ATTRIB(b)) return !ANY_ATTRIB(a) && !ANY_ATTRIB(b);
    const void *top = vmaxget();
    ent_attributes others;
    ent_collect_attributes(b, &others);
    int are = ent_has_attributes(a, &others, are_equal);
    vmaxset(top);
    return are;
}

/* Whether two values are equal. One of them was added to a hash, which bounds the depth. */
static int are_equal(SEXP a, SEXP b) {
    if (a == b) return 1;
    int type = TYPEOF(a);
    if (type != TYPEOF(b)) return 0;
    switch (type) {
    case LANGSXP:
    case LISTSXP:
        if (!have_equal_attributes(a, b)) return 0;
        for (; TYPEOF(a) == LANGSXP || TYPEOF(a) == LISTSXP; a = CDR(a), b = CDR(b)) {
            if (TYPEOF(a) != TYPEOF(b) || TAG(a) != TAG(b) || !are_equal(CAR(a), CAR(b))) return 0;
        }
        return a == b;
    case LGLSXP:
    case INTSXP:
    case REALSXP:
    case CPLXSXP:
    case RAWSXP:
    case STRSXP: {
        R_xlen_t n = Rf_xlength(a);
        if (n != Rf_xlength(b) || Rf_isS4(a) || Rf_isS4(b)) return 0;
        size_t len = (size_t)n * ent_type_width(TYPEOF(a));
        if (n > 0 && memcmp(ent_memory_read(a), ent_memory_read(b), len) != 0) return 0;
        break;
    }
    case VECSXP: {
        R_xlen_t n = Rf_xlength(a);
        if (n != Rf_xlength(b) || Rf_isS4(a) || Rf_isS4(b)) return 0;
        for (R_xlen_t i = 0; i < n; i++) {
            if (!are_equal(VECTOR_ELT(a, i), VECTOR_ELT(b, i))) return 0;
        }
        break;
    }
    default: return 0;
    }
    return have_equal_attributes(a, b);
}

/* Zero only for a free slot. */
static uint64_t hash_of(const void *one) { return ((const ent_repeat *)one)->hash; }

typedef int (*add_t)(look *l, SEXP x);
typedef int (*equal_t)(SEXP a, SEXP b);

static int find_or_add(ent_repeats *table, SEXP x, uint64_t *number, add_t add_x, equal_t are) {
    if (table->looks >= LOOKS && table->found < table->looks / FEW) return 0;
    look l = {0, MOST_VALUES, MOST_BYTES};
    table->looks++;
    if (!add_x(&l, x)) return 0;
    uint64_t hash = l.hash | 1;
    table->all = ent_table_grown(table->all, table->n, &table->room, sizeof *table->all, hash_of);
    size_t at = ent_table_slot(hash, table->room);
    for (; table->all[at].hash != 0; at = (at + 1) & (table->room - 1)) {
        if (table->all[at].hash != hash || !are(x, table->all[at].value)) continue;
        table->found++;
        *number = table->all[at].number;
        return 1;
    }
    if (table->n >= MOST_KEPT) return 0;
    table->all[at] = (ent_repeat){hash, x, *number};
    table->n++;
    return 0;
}

/* Finds the cell of an equal value. If there is none, remembers that the cell of this one is
 * `*number`. */
int ent_repeats_find(ent_repeats *table, SEXP x, uint64_t *number) {
    return find_or_add(table, x, number, add_value, are_equal);
}

/* As `ent_repeats_find` for the attributes of a value, which need a separate table. */
int ent_repeats_find_attributes(ent_repeats *table, SEXP x, uint64_t *number) {
    return find_or_add(table, x, number, add_attributes, have_equal_attributes);
}

void ent_repeats_free(ent_repeats *table) { free(table->all); }
