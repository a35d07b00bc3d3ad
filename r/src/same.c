/* Symbols, calls and attributes that repeat in a tree: equal ones are stored once. Vectors are compared by what they hold, environments
 * by their address. A value that holds anything else (a function, an external pointer, an object of S4) is equal to no other.
 *
 * The table finds by hash and confirms by comparing, so that the file never depends on addresses.
 */
#include "table.h"

/* Values, and bytes of vectors, that one look takes at most. Larger values are looked at part by part. */
#define MOST_VALUES 512
#define MOST_BYTES 65536
/* Values that a table keeps at most, which bounds its memory. */
#define MOST_KEPT (1 << 18)
/* Looks that are made before a table is given up that hardly finds anything: one in FEW. */
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

static size_t width_of(SEXP x) {
    switch (TYPEOF(x)) {
    case RAWSXP: return 1;
    case LGLSXP: case INTSXP: return sizeof(int);
    case REALSXP: return sizeof(double);
    case CPLXSXP: return sizeof(Rcomplex);
    default: return sizeof(SEXP);
    }
}

/* Bytes of an atomic vector. R has equal strings once, so their addresses tell them. */
static int add_bytes(look *l, SEXP x) {
    size_t len = (size_t)Rf_xlength(x) * width_of(x);
    if ((R_xlen_t)len > l->bytes_left) return 0;
    l->bytes_left -= (R_xlen_t)len;
    if (len == 0) return 1;
    const char *bytes = TYPEOF(x) == STRSXP ? (const char *)STRING_PTR_RO(x) : DATAPTR_RO(x);
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

/* Adds a value to a hash; 0 when it holds something that is never equal to another, or too much. */
static int add_value(look *l, SEXP x) {
    if (--l->n_left < 0) return 0;
    int type = TYPEOF(x);
    add(l, (uint64_t)type);
    switch (type) {
    case NILSXP:
        return 1;
    case SYMSXP: case ENVSXP:
        add(l, (uint64_t)(uintptr_t)x);
        return 1;
    case LANGSXP: case LISTSXP:
        if (ATTRIB(x) != R_NilValue && !add_value(l, ATTRIB(x))) return 0;
        for (; TYPEOF(x) == LANGSXP || TYPEOF(x) == LISTSXP; x = CDR(x)) {
            if (!add_value(l, CAR(x))) return 0;
            add(l, (uint64_t)(uintptr_t)TAG(x));
        }
        return x == R_NilValue;
    case LGLSXP: case INTSXP: case REALSXP: case CPLXSXP: case RAWSXP: case STRSXP:
        if (IS_S4_OBJECT(x)) return 0;
        add(l, (uint64_t)Rf_xlength(x));
        if (!add_bytes(l, x)) return 0;
        break;
    case VECSXP: {
        if (IS_S4_OBJECT(x)) return 0;
        R_xlen_t n = Rf_xlength(x);
        add(l, (uint64_t)n);
        for (R_xlen_t i = 0; i < n; i++) {
            if (!add_value(l, VECTOR_ELT(x, i))) return 0;
        }
        break;
    }
    default:
        return 0;
    }
    return ATTRIB(x) == R_NilValue || add_value(l, ATTRIB(x));
}

/* Whether two values are equal, of which one was added to a hash. */
static int are_equal(SEXP a, SEXP b) {
    if (a == b) return 1;
    int type = TYPEOF(a);
    if (type != TYPEOF(b)) return 0;
    switch (type) {
    case LANGSXP: case LISTSXP:
        if (!are_equal(ATTRIB(a), ATTRIB(b))) return 0;
        for (; TYPEOF(a) == LANGSXP || TYPEOF(a) == LISTSXP; a = CDR(a), b = CDR(b)) {
            if (TYPEOF(a) != TYPEOF(b) || TAG(a) != TAG(b) || !are_equal(CAR(a), CAR(b))) return 0;
        }
        return a == b;
    case LGLSXP: case INTSXP: case REALSXP: case CPLXSXP: case RAWSXP: case STRSXP: {
        R_xlen_t n = Rf_xlength(a);
        if (n != Rf_xlength(b) || IS_S4_OBJECT(a) || IS_S4_OBJECT(b)) return 0;
        const void *of_a = type == STRSXP ? (const void *)STRING_PTR_RO(a) : DATAPTR_RO(a);
        const void *of_b = type == STRSXP ? (const void *)STRING_PTR_RO(b) : DATAPTR_RO(b);
        if (n > 0 && memcmp(of_a, of_b, (size_t)n * width_of(a)) != 0) return 0;
        break;
    }
    case VECSXP: {
        R_xlen_t n = Rf_xlength(a);
        if (n != Rf_xlength(b) || IS_S4_OBJECT(a) || IS_S4_OBJECT(b)) return 0;
        for (R_xlen_t i = 0; i < n; i++) {
            if (!are_equal(VECTOR_ELT(a, i), VECTOR_ELT(b, i))) return 0;
        }
        break;
    }
    default:
        return 0;
    }
    return are_equal(ATTRIB(a), ATTRIB(b));
}

/* Zero for a free place alone. */
static uint64_t hash_of(const void *one) { return ((const ent_same_one *)one)->hash; }

/* The cell of an equal value that was met; else 0, and the next time it is the one that is told now. */
int ent_same_before(ent_same *table, SEXP x, uint64_t *number) {
    if (table->looks >= LOOKS && table->found < table->looks / FEW) return 0;
    look l = {0, MOST_VALUES, MOST_BYTES};
    table->looks++;
    if (!add_value(&l, x)) return 0;
    uint64_t hash = l.hash | 1;
    table->all = ent_table_grown(table->all, table->n, &table->room, sizeof *table->all, hash_of);
    size_t at = ent_table_slot(hash, table->room);
    for (; table->all[at].hash != 0; at = (at + 1) & (table->room - 1)) {
        if (table->all[at].hash != hash || !are_equal(x, table->all[at].value)) continue;
        table->found++;
        *number = table->all[at].number;
        return 1;
    }
    if (table->n >= MOST_KEPT) return 0;
    table->all[at] = (ent_same_one){hash, x, *number};
    table->n++;
    return 0;
}

void ent_same_free(ent_same *table) { free(table->all); }
