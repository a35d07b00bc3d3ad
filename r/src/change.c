/* Changes of files in place. */
#include "values.h"

static void free_change(SEXP pointer) {
    ent_change *change = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (change != NULL) ent_change_free(change);
}

/* Takes the lock of a file that is going to change. */
SEXP ent_c_change(SEXP path, SEXP options) {
    ent_failure *failure = NULL;
    ent_change *change =
        ent_change_begin(ent_chars_of(STRING_ELT(path, 0)), ent_options_of(options), ent_is_interrupted, &failure);
    return change == NULL ? ent_failed(failure) : ent_hold(change, free_change, R_NilValue);
}

/* Gives the lock back now instead of at the next garbage collection. */
SEXP ent_c_change_end(SEXP change) {
    free_change(change);
    return R_NilValue;
}

/* Adds the rows of a frame to the table of a file. False if its columns are of another form. */
SEXP ent_c_append(SEXP change, SEXP frame, SEXP options) {
    ent_failure *failure = NULL;
    ent_watch();
    int done = ent_change_append(ent_pointer_of(change, "a change"), ent_pointer_of(frame, "a frame"),
                                 ent_options_of(options), ent_is_interrupted, &failure);
    ent_watched();
    ent_free_builder(frame);
    return done < 0 ? ent_failed(failure) : Rf_ScalarLogical(done);
}

/* Begins a file that is written batch by batch. */
SEXP ent_c_stream(SEXP path, SEXP options) {
    ent_failure *failure = NULL;
    ent_change *stream =
        ent_stream_create(ent_chars_of(STRING_ELT(path, 0)), ent_options_of(options), ent_is_interrupted, &failure);
    return stream == NULL ? ent_failed(failure) : ent_hold(stream, free_change, R_NilValue);
}

/* Makes a change a stream that adds rows. */
SEXP ent_c_stream_extend(SEXP change, SEXP options) {
    ent_failure *failure = NULL;
    int done = ent_stream_extend(ent_pointer_of(change, "a change"), ent_options_of(options), &failure);
    return done < 0 ? ent_failed(failure) : R_NilValue;
}

/* Fails in a forked child of the process that made the stream. */
SEXP ent_c_stream_check(SEXP stream) {
    ent_failure *failure = NULL;
    int done = ent_stream_check(ent_pointer_of(stream, "a writer"), &failure);
    return done < 0 ? ent_failed(failure) : R_NilValue;
}

/* An open file with the table so far; NULL before the first batch. */
SEXP ent_c_stream_view(SEXP stream) {
    ent_failure *failure = NULL;
    ent_file *view = ent_stream_view(ent_pointer_of(stream, "a writer"), &failure);
    if (failure != NULL) return ent_failed(failure);
    return view == NULL ? R_NilValue : ent_hold(view, ent_free_file, R_NilValue);
}

/* Makes the batches the value of the file. */
SEXP ent_c_stream_finish(SEXP stream) {
    ent_failure *failure = NULL;
    int done = ent_stream_finish(ent_pointer_of(stream, "a writer"), &failure);
    return done < 0 ? ent_failed(failure) : R_NilValue;
}

/* Replaces the columns of the table of a file or stream. Each has a name, a flag for new columns,
 * and a position among the columns of the table or, if new, of the frame. False if the file must be
 * written anew. */
SEXP ent_c_change_columns(SEXP change, SEXP frame, SEXP positions, SEXP is_new, SEXP names, SEXP operation,
                          SEXP options) {
    ent_failure *failure = NULL;
    R_xlen_t n = Rf_xlength(names);
    ent_chars *texts = (ent_chars *)R_alloc((size_t)n + 1, sizeof *texts);
    for (R_xlen_t i = 0; i < n; i++) texts[i] = ent_chars_of(STRING_ELT(names, i));
    ent_final_columns columns = {
        .positions = REAL(positions),
        .is_new = LOGICAL(is_new),
        .names = texts,
        .n = (size_t)n,
        .operation = Rf_asInteger(operation),
    };
    ent_watch();
    int done = ent_change_columns(ent_pointer_of(change, "a change"), ent_pointer_of(frame, "a frame"), &columns,
                                  ent_options_of(options), ent_is_interrupted, &failure);
    ent_watched();
    ent_free_builder(frame);
    return done < 0 ? ent_failed(failure) : Rf_ScalarLogical(done);
}

/* Gives a file the metadata in cells, or none for NULL. `roots` are the cells of the metadata and
 * of the environments. False if the file must be written anew. */
SEXP ent_c_change_metadata(SEXP change, SEXP cells, SEXP roots, SEXP options) {
    ent_failure *failure = NULL;
    ent_metadata metadata = {.cells = ent_walked(cells), .value = REAL(roots)[0], .environments = REAL(roots)[1]};
    int done = ent_change_metadata(ent_pointer_of(change, "a change"), &metadata, ent_options_of(options),
                                   ent_is_interrupted, &failure);
    return done < 0 ? ent_failed(failure) : Rf_ScalarLogical(done);
}

/* Goes back to an earlier generation. */
SEXP ent_c_rollback(SEXP change, SEXP generation, SEXP options) {
    ent_failure *failure = NULL;
    ent_watch();
    int done = ent_change_rollback(ent_pointer_of(change, "a change"), Rf_asReal(generation), ent_options_of(options),
                                   ent_is_interrupted, &failure);
    ent_watched();
    return done < 0 ? ent_failed(failure) : R_NilValue;
}

/* States how many generations later changes keep: the code of a unit, and a number. */
SEXP ent_c_keep(SEXP change, SEXP unit, SEXP value, SEXP options) {
    ent_failure *failure = NULL;
    ent_watch();
    int done = ent_change_keep(ent_pointer_of(change, "a change"), Rf_asInteger(unit), Rf_asReal(value),
                               ent_options_of(options), ent_is_interrupted, &failure);
    ent_watched();
    return done < 0 ? ent_failed(failure) : R_NilValue;
}

/* Stores a file anew without what earlier changes left; with `rekey`, with another file key. */
SEXP ent_c_compact(SEXP change, SEXP rekey, SEXP options) {
    ent_failure *failure = NULL;
    ent_watch();
    int done = ent_change_compact(ent_pointer_of(change, "a change"), Rf_asLogical(rekey) == TRUE,
                                  ent_options_of(options), ent_is_interrupted, &failure);
    ent_watched();
    return done < 0 ? ent_failed(failure) : R_NilValue;
}
