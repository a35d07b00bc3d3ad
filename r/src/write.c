/* Frames to write. */
#include "values.h"

void ent_free_builder(SEXP pointer) {
    ent_builder *builder = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (builder != NULL) ent_builder_free(builder);
}

/* The code of the first NA in each vector of doubles: 0 for none, 1 for NA_real_, 2 for the quiet
 * NA. */
SEXP ent_c_na_kind(SEXP vectors) {
    R_xlen_t n = Rf_xlength(vectors);
    SEXP out = PROTECT(Rf_allocVector(INTSXP, n));
    ent_failure *failure = NULL;
    for (R_xlen_t i = 0; i < n && failure == NULL; i++) {
        SEXP x = VECTOR_ELT(vectors, i);
        INTEGER(out)[i] = ent_na_kind(REAL(x), (size_t)Rf_xlength(x), &failure);
    }
    UNPROTECT(1);
    return failure == NULL ? out : ent_failed(failure);
}

/* The coarsest or finest time unit in which the doubles of each vector are whole numbers; 0 if
 * there is none. */
SEXP ent_c_exact_unit(SEXP vectors, SEXP scale, SEXP is_finest) {
    R_xlen_t n = Rf_xlength(vectors);
    int of = Rf_asInteger(scale), finest = Rf_asLogical(is_finest) == TRUE;
    SEXP out = PROTECT(Rf_allocVector(INTSXP, n));
    ent_failure *failure = NULL;
    for (R_xlen_t i = 0; i < n && failure == NULL; i++) {
        SEXP x = VECTOR_ELT(vectors, i);
        INTEGER(out)[i] = ent_exact_unit(REAL(x), (size_t)Rf_xlength(x), of, finest, &failure);
    }
    UNPROTECT(1);
    return failure == NULL ? out : ent_failed(failure);
}

/* Adds the columns that a list of vectors describes, with an element for each column. Returns NULL
 * or a failure. */
static ent_failure *add_columns(ent_builder *builder, SEXP columns, int is_extra) {
    ent_failure *failure = NULL;
    SEXP names = ent_element(columns, "name"), values = ent_element(columns, "values");
    SEXP zones = ent_element(columns, "zone");
    const double *offsets = REAL(ent_element(columns, "offset")), *lengths = REAL(ent_element(columns, "n"));
    const double *cells = REAL(ent_element(columns, "cell"));
    const int *kinds = INTEGER(ent_element(columns, "kind")), *variants = INTEGER(ent_element(columns, "variant"));
    const int *units = INTEGER(ent_element(columns, "unit")), *seconds = INTEGER(ent_element(columns, "seconds"));
    const int *na = INTEGER(ent_element(columns, "na")), *levels = INTEGER(ent_element(columns, "levels"));
    const int *n_levels = INTEGER(ent_element(columns, "n_levels"));
    const int *ordered = INTEGER(ent_element(columns, "ordered"));
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
        SEXP x = VECTOR_ELT(values, i);
        ent_column column = {
            .name = ent_chars_of(STRING_ELT(names, i)),
            .zone = ent_chars_of(STRING_ELT(zones, i)),
            .n = (size_t)lengths[i],
            .kind = kinds[i],
            .variant = variants[i],
            .unit = units[i],
            .seconds = seconds[i],
            .na = na[i],
            .levels = levels[i],
            .n_levels = n_levels[i],
            .ordered = ordered[i],
            .cell = cells[i],
        };
        if (kinds[i] != ENT_KIND_LIST) {
            if ((SEXPTYPE)TYPEOF(x) != ent_kind_type(kinds[i]) || offsets[i] + lengths[i] > (double)Rf_xlength(x)) {
                Rf_error("a column changed while it was written");
            }
            if (kinds[i] == ENT_KIND_CHARACTER) {
                ent_strings *strings = ent_builder_strings(builder, column.n, &failure);
                R_xlen_t from = (R_xlen_t)offsets[i], to = from + (R_xlen_t)column.n;
                if (strings == NULL || !ent_collect(strings, x, from, to, &failure)) return failure;
            } else if (lengths[i] > 0) {
                column.values = (const char *)DATAPTR_RO(x) + (size_t)offsets[i] * ent_kind_width(kinds[i]);
            }
        }
        if (ent_builder_add(builder, &column, is_extra, &failure) < 0) return failure;
    }
    return NULL;
}

/* A frame to write, which protects the vectors of its columns. */
SEXP ent_c_frame(SEXP n_rows, SEXP columns, SEXP extra, SEXP host) {
    ent_failure *failure = NULL;
    const ent_node *nodes;
    size_t n_nodes;
    SEXP memory = PROTECT(ent_to_nodes(host, &nodes, &n_nodes));
    /* Nodes are copied while the frame is made. */
    SEXP kept = PROTECT(Rf_list2(columns, extra));
    ent_builder *builder = ent_builder_new(Rf_asReal(n_rows), &failure);
    if (builder == NULL) {
        UNPROTECT(2);
        return ent_failed(failure);
    }
    SEXP pointer = PROTECT(ent_hold(builder, ent_free_builder, kept));
    failure = add_columns(builder, columns, 0);
    if (failure == NULL) failure = add_columns(builder, extra, 1);
    if (failure == NULL) ent_builder_host(builder, nodes, n_nodes, &failure);
    ent_nodes_free(memory);
    UNPROTECT(3);
    return failure == NULL ? pointer : ent_failed(failure);
}

/* The options in a vector of doubles. */
ent_options ent_options_of(SEXP options) {
    const double *of = REAL(options);
    ent_options out = {
        .compression = (int)of[0],
        .threads = (int)of[1],
        .durable = (int)of[2],
        .must_be_new = (int)of[4],
        .wait = of[3],
        .edition = (int)of[5],
    };
    return out;
}

/* Writes frames, and cells unless NULL. Replaces the file of a change unless NULL. `roots` are the
 * cells of the value, the environments and the metadata; -1 for none. */
SEXP ent_c_write(SEXP path, SEXP frames, SEXP cells, SEXP roots, SEXP options, SEXP change, SEXP operation) {
    ent_failure *failure = NULL;
    R_xlen_t n = Rf_xlength(frames);
    ent_builder **builders = (ent_builder **)R_alloc((size_t)n + 1, sizeof *builders);
    for (R_xlen_t i = 0; i < n; i++) builders[i] = ent_pointer_of(VECTOR_ELT(frames, i), "a frame");
    ent_new_file file = {
        .path = ent_chars_of(STRING_ELT(path, 0)),
        .frames = builders,
        .n_frames = (size_t)n,
        .cells = ent_walked(cells),
        .root = REAL(roots)[0],
        .environments = REAL(roots)[1],
        .metadata = REAL(roots)[2],
        .options = ent_options_of(options),
        .change = change == R_NilValue ? NULL : ent_pointer_of(change, "a change"),
        .operation = Rf_asInteger(operation),
    };
    ent_watch();
    ent_write(&file, ent_is_interrupted, &failure);
    ent_watched();
    /* Frees the memory of the builders now instead of at the next garbage collection. */
    for (R_xlen_t i = 0; i < n; i++) ent_free_builder(VECTOR_ELT(frames, i));
    return failure == NULL ? R_NilValue : ent_failed(failure);
}
