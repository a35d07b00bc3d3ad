/* Compression and hashing of raw vectors, and the number of threads. */
#include "glue.h"

/* Sets the number of threads unless it is NULL, and returns the previous number. */
SEXP ent_c_threads(SEXP n) {
    SEXP before = Rf_ScalarInteger((int)ent_threads());
    if (n != R_NilValue) ent_set_threads((size_t)Rf_asInteger(n));
    return before;
}

static void free_compressed(SEXP pointer) {
    ent_compressed *compressed = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (compressed != NULL) ent_compressed_take(compressed, NULL, 0, NULL);
}

SEXP ent_c_compress(SEXP x, SEXP codec, SEXP level) {
    ent_failure *failure = NULL;
    size_t len = 0;
    int wanted = Rf_asInteger(level);
    ent_compressed *compressed = ent_compress(RAW(x), (size_t)Rf_xlength(x), ent_chars_of(STRING_ELT(codec, 0)), wanted,
                                              &len, ent_is_interrupted, &failure);
    if (compressed == NULL) return ent_failed(failure);
    SEXP pointer = PROTECT(ent_hold(compressed, free_compressed, R_NilValue));
    SEXP out = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)len));
    R_ClearExternalPtr(pointer);
    int done = ent_compressed_take(compressed, RAW(out), len, &failure);
    UNPROTECT(2);
    return done < 0 ? ent_failed(failure) : out;
}

SEXP ent_c_decompress(SEXP x, SEXP max_len) {
    ent_failure *failure = NULL;
    double len = ent_decompressed_len(RAW(x), (size_t)Rf_xlength(x), Rf_asReal(max_len), &failure);
    if (len < 0) return ent_failed(failure);
    SEXP out = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)len));
    int done = ent_decompress(RAW(x), (size_t)Rf_xlength(x), RAW(out), (size_t)len, ent_is_interrupted, &failure);
    UNPROTECT(1);
    return done < 0 ? ent_failed(failure) : out;
}

/* The 64-bit hash as 16 hexadecimal digits. */
SEXP ent_c_hash(SEXP x, SEXP seed) {
    ent_failure *failure = NULL;
    uint64_t hash = ent_hash(RAW(x), (size_t)Rf_xlength(x), (uint64_t)Rf_asReal(seed), ent_is_interrupted, &failure);
    if (failure != NULL) return ent_failed(failure);
    char digits[17];
    snprintf(digits, sizeof digits, "%08x%08x", (unsigned)(hash >> 32), (unsigned)(hash & 0xFFFFFFFF));
    return Rf_mkString(digits);
}
