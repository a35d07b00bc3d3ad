/* Keys and passwords of encrypted files. R holds them by external pointers, whose addresses are
 * never saved. */
#include "values.h"

static void free_secret(SEXP pointer) {
    ent_secret *secret = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (secret != NULL) ent_secret_free(secret);
}

/* A pointer of the class that R code knows: a key, or a password. */
static SEXP hold(ent_secret *secret) {
    int is_key = ent_secret_bytes(secret) != NULL;
    SEXP pointer = PROTECT(ent_hold(secret, free_secret, R_NilValue));
    Rf_classgets(pointer, PROTECT(Rf_mkString(is_key ? "entasis_key" : "entasis_password")));
    UNPROTECT(2);
    return pointer;
}

/* Takes the address of the failure, because C evaluates arguments in any order. */
static SEXP held(ent_secret *secret, ent_failure **failure) {
    return secret == NULL ? ent_failed(*failure) : hold(secret);
}

/* A secret, or NULL for R's NULL and for a pointer of another session. */
static ent_secret *secret_of(SEXP pointer) { return TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL; }

/* A key of these bytes, or a random one for NULL. */
SEXP ent_c_secret_key(SEXP bytes) {
    ent_failure *failure = NULL;
    ent_chars of = {NULL, 0};
    if (bytes != R_NilValue) {
        of.len = (size_t)Rf_xlength(bytes);
        of.start = of.len == 0 ? "" : (const char *)RAW(bytes);
    }
    return held(ent_secret_key(of, &failure), &failure);
}

SEXP ent_c_secret_file(SEXP path) {
    ent_failure *failure = NULL;
    return held(ent_secret_file(ent_chars_of(STRING_ELT(path, 0)), &failure), &failure);
}

/* A password, whose text is in UTF-8. */
SEXP ent_c_secret_password(SEXP text) {
    ent_failure *failure = NULL;
    return held(ent_secret_password(ent_chars_of(STRING_ELT(text, 0)), &failure), &failure);
}

/* The bytes of a key. */
SEXP ent_c_secret_bytes(SEXP key) {
    const unsigned char *bytes = ent_secret_bytes(ent_pointer_of(key, "the key"));
    if (bytes == NULL) Rf_error("a password has no bytes");
    SEXP out = PROTECT(Rf_allocVector(RAWSXP, 32));
    memcpy(RAW(out), bytes, 32);
    UNPROTECT(1);
    return out;
}

/* Puts a secret in force, or none for NULL. Returns the one that was, or NULL. */
SEXP ent_c_use_secret(SEXP secret) {
    ent_secret *before = ent_secret_use(secret_of(secret));
    return before == NULL ? R_NilValue : hold(before);
}

/* The secret in force, or NULL. */
SEXP ent_c_secret_in_force(void) {
    ent_secret *secret = ent_secret_in_force();
    return secret == NULL ? R_NilValue : hold(secret);
}

/* The key that opens a file. */
SEXP ent_c_unlock(SEXP path) {
    ent_failure *failure = NULL;
    return held(ent_unlock(ent_chars_of(STRING_ELT(path, 0)), &failure), &failure);
}

/* Encrypts or decrypts a file, in its place for NULL as `out`. */
SEXP ent_c_encrypt(SEXP path, SEXP out, SEXP decrypts, SEXP options) {
    ent_failure *failure = NULL;
    ent_chars to = {NULL, 0};
    if (out != R_NilValue) to = ent_chars_of(STRING_ELT(out, 0));
    ent_watch();
    int done = ent_encrypt(ent_chars_of(STRING_ELT(path, 0)), to, Rf_asLogical(decrypts) == TRUE,
                           ent_options_of(options), ent_is_interrupted, &failure);
    ent_watched();
    return done < 0 ? ent_failed(failure) : R_NilValue;
}

/* Adds a key or password to a file. */
SEXP ent_c_add_key(SEXP path, SEXP secret, SEXP options) {
    ent_failure *failure = NULL;
    int done = ent_add_key(ent_chars_of(STRING_ELT(path, 0)), ent_pointer_of(secret, "the key"),
                           ent_options_of(options), ent_is_interrupted, &failure);
    return done < 0 ? ent_failed(failure) : R_NilValue;
}

/* Removes the key with a number from a file, or the one that opens it for -1. */
SEXP ent_c_remove_key(SEXP path, SEXP number, SEXP options) {
    ent_failure *failure = NULL;
    int done = ent_remove_key(ent_chars_of(STRING_ELT(path, 0)), Rf_asReal(number), ent_options_of(options),
                              ent_is_interrupted, &failure);
    return done < 0 ? ent_failed(failure) : R_NilValue;
}

/* The cipher of a file and the kinds of its keys; NULL for a plain file. */
SEXP ent_c_keys(SEXP path) {
    ent_failure *failure = NULL;
    ent_tree *tree = ent_keys(ent_chars_of(STRING_ELT(path, 0)), &failure);
    return tree == NULL ? ent_failed(failure) : ent_value_of(tree);
}
