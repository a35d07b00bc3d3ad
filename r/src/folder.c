/* Folders of files. */
#include "values.h"

/* A tree of the core as an R value. Frees the tree. Takes the address of the failure, because C
 * evaluates arguments in any order. */
static SEXP value_of(ent_tree *tree, ent_failure **failure) {
    if (tree == NULL) return ent_failed(*failure);
    return ent_value_of(tree);
}

SEXP ent_c_folder(SEXP path, SEXP limits) {
    ent_failure *failure = NULL;
    const ent_limit *of_file = ent_limits_of(limits);
    ent_tree *tree = ent_folder(ent_chars_of(STRING_ELT(path, 0)), of_file, (size_t)Rf_xlength(limits), &failure);
    return value_of(tree, &failure);
}

SEXP ent_c_folder_state(SEXP path, SEXP is_read) {
    ent_failure *failure = NULL;
    return value_of(ent_folder_state(ent_chars_of(STRING_ELT(path, 0)), Rf_asLogical(is_read) == TRUE, &failure),
                    &failure);
}

/* The texts of a character vector, in memory of R. NA has no start. */
static const ent_chars *texts_or_none(SEXP x) {
    R_xlen_t n = Rf_xlength(x);
    ent_chars *out = (ent_chars *)R_alloc((size_t)n + 1, sizeof *out);
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP text = STRING_ELT(x, i);
        out[i] = text == NA_STRING ? (ent_chars){NULL, 0} : ent_chars_of(text);
    }
    return out;
}

SEXP ent_c_folder_names(SEXP key, SEXP values) {
    ent_failure *failure = NULL;
    ent_tree *tree =
        ent_folder_names(ent_chars_of(STRING_ELT(key, 0)), texts_or_none(values), (size_t)Rf_xlength(values), &failure);
    return value_of(tree, &failure);
}

/* `of` is a list: folder, job, paths, names and types of keys, their texts, replaces, before. */
SEXP ent_c_folder_commit(SEXP of, SEXP options) {
    ent_failure *failure = NULL;
    ent_committed committed = {
        .folder = ent_chars_of(STRING_ELT(VECTOR_ELT(of, 0), 0)),
        .job = ent_chars_of(STRING_ELT(VECTOR_ELT(of, 1), 0)),
        .paths = texts_or_none(VECTOR_ELT(of, 2)),
        .n_files = (size_t)Rf_xlength(VECTOR_ELT(of, 2)),
        .names = texts_or_none(VECTOR_ELT(of, 3)),
        .types = texts_or_none(VECTOR_ELT(of, 4)),
        .n_keys = (size_t)Rf_xlength(VECTOR_ELT(of, 3)),
        .texts = texts_or_none(VECTOR_ELT(of, 5)),
        .replaces = Rf_asLogical(VECTOR_ELT(of, 6)),
        .before = Rf_asReal(VECTOR_ELT(of, 7)),
    };
    int done = ent_folder_commit(&committed, ent_options_of(options), ent_is_interrupted, &failure);
    return done == 0 ? R_NilValue : ent_failed(failure);
}
