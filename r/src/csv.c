/* Text files. */
#include "values.h"

static void free_csv(SEXP pointer) {
    ent_csv *csv = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (csv != NULL) ent_csv_free(csv);
}

static void free_texts(SEXP pointer) {
    ent_csv_texts *texts = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (texts != NULL) ent_csv_strings_free(texts);
}

/* The texts of a character vector, in memory of R. */
static const ent_chars *texts_of(SEXP x) {
    R_xlen_t n = Rf_xlength(x);
    ent_chars *out = (ent_chars *)R_alloc((size_t)n + 1, sizeof *out);
    for (R_xlen_t i = 0; i < n; i++) out[i] = ent_chars_of(STRING_ELT(x, i));
    return out;
}

/* The texts to read: a list of strings and raw vectors. */
static const ent_csv_source *sources_of(SEXP sources, SEXP names) {
    R_xlen_t n = Rf_xlength(sources);
    ent_csv_source *out = (ent_csv_source *)R_alloc((size_t)n + 1, sizeof *out);
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP source = VECTOR_ELT(sources, i);
        out[i].name = ent_chars_of(STRING_ELT(names, i));
        out[i].are_bytes = TYPEOF(source) == RAWSXP;
        if (out[i].are_bytes) {
            out[i].content = (ent_chars){(const char *)RAW(source), (size_t)Rf_xlength(source)};
        } else {
            out[i].content = ent_chars_of(STRING_ELT(source, 0));
        }
    }
    return out;
}

static const ent_csv_argument *arguments_of(SEXP arguments) {
    R_xlen_t n = Rf_xlength(arguments);
    SEXP names = Rf_getAttrib(arguments, R_NamesSymbol);
    ent_csv_argument *out = (ent_csv_argument *)R_alloc((size_t)n + 1, sizeof *out);
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP values = VECTOR_ELT(arguments, i);
        out[i].name = ent_chars_of(STRING_ELT(names, i));
        out[i].values = texts_of(values);
        out[i].n = (size_t)Rf_xlength(values);
    }
    return out;
}

/* A text of the reader. Strings of R can't contain zero characters, so the first one ends it. */
static SEXP text_at(const ent_csv *csv, int list, size_t i) {
    ent_chars chars = ent_csv_text(csv, list, i);
    if (chars.start == NULL) return NA_STRING;
    if (chars.len > 0 && memchr(chars.start, 0, chars.len) != NULL) chars.len = strlen(chars.start);
    return ent_char(chars);
}

/* A condition of R: NULL, or a list of the names of columns and of a tree. Returns the memory of
 * its nodes, for `ent_nodes_free`. */
static SEXP condition_of(SEXP condition, ent_csv_condition *out, const ent_csv_condition **by) {
    *by = NULL;
    if (condition == R_NilValue) return R_NilValue;
    SEXP columns = VECTOR_ELT(condition, 0);
    *out = (ent_csv_condition){.columns = texts_of(columns), .n_columns = (size_t)Rf_xlength(columns)};
    *by = out;
    return ent_to_nodes(VECTOR_ELT(condition, 1), &out->nodes, &out->n_nodes);
}

/* The table with its facts. */
static SEXP facts_of(ent_csv *csv) {
    static const char *fields[] = {
        "table",      "names",      "types",   "rounded",     "all_names",    "warnings",     "columns",
        "texts",      "expected",   "files",   "parts",       "values",       "reasons",      "spec",
        "spec_names", "spec_types", "missing", "dates",       "date_columns", "date_formats", "fits",
        "rows",       "lines",      "bytes",   "confidences", "counts",       "refused",      ""};
    static const int lists[] = {
        ENT_CSV_NAMES,         ENT_CSV_TYPES,           ENT_CSV_ROUNDED,       ENT_CSV_ALL_NAMES,
        ENT_CSV_WARNINGS,      ENT_CSV_PROBLEM_COLUMNS, ENT_CSV_PROBLEM_TEXTS, ENT_CSV_PROBLEM_EXPECTED,
        ENT_CSV_PROBLEM_FILES, ENT_CSV_REASON_PARTS,    ENT_CSV_REASON_VALUES, ENT_CSV_REASONS,
        ENT_CSV_SPEC,          ENT_CSV_SPEC + 1,        ENT_CSV_SPEC + 2,      ENT_CSV_SPEC + 3,
        ENT_CSV_SPEC + 4,      ENT_CSV_SPEC + 5,        ENT_CSV_SPEC + 6,      ENT_CSV_FITS,
        ENT_CSV_PROBLEM_ROWS,  ENT_CSV_PROBLEM_LINES,   ENT_CSV_PROBLEM_BYTES, ENT_CSV_CONFIDENCES,
        ENT_CSV_COUNTS};
    enum { N_LISTS = sizeof lists / sizeof *lists };
    SEXP pointer = PROTECT(ent_hold(csv, free_csv, R_NilValue));
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, pointer);
    for (int k = 0; k < N_LISTS; k++) {
        int is_text = lists[k] < ENT_CSV_FITS;
        R_xlen_t n = (R_xlen_t)ent_csv_n(csv, lists[k]);
        SEXP values = Rf_allocVector(is_text ? STRSXP : REALSXP, n);
        SET_VECTOR_ELT(out, k + 1, values);
        for (R_xlen_t i = 0; i < n; i++) {
            if (is_text) SET_STRING_ELT(values, i, text_at(csv, lists[k], (size_t)i));
            else REAL(values)[i] = ent_csv_number(csv, lists[k], (size_t)i);
        }
    }
    ent_failure *failure = ent_csv_refused(csv);
    if (failure != NULL) SET_VECTOR_ELT(out, N_LISTS + 1, ent_failed(failure));
    UNPROTECT(2);
    return out;
}

/* Reads texts. Returns the table with its facts, or a failure. */
SEXP ent_c_csv_read(SEXP sources, SEXP names, SEXP arguments, SEXP sniffs, SEXP condition) {
    ent_failure *failure = NULL;
    ent_csv_condition memory;
    const ent_csv_condition *tested;
    const ent_csv_source *from = sources_of(sources, names);
    const ent_csv_argument *by = arguments_of(arguments);
    SEXP nodes = PROTECT(condition_of(condition, &memory, &tested));
    ent_watch();
    ent_csv *csv = ent_csv_read(from, (size_t)Rf_xlength(sources), by, (size_t)Rf_xlength(arguments), tested,
                                Rf_asInteger(sniffs), ent_is_interrupted, &failure);
    ent_watched();
    if (nodes != R_NilValue) ent_nodes_free(nodes);
    UNPROTECT(1);
    return csv == NULL ? ent_failed(failure) : facts_of(csv);
}

/* The strings of Rust as a character vector: made on first access if there are some. */
static SEXP strings_of(ent_text *text, R_xlen_t n) {
    if (text == NULL) return Rf_allocVector(STRSXP, n);
    return n == 0 ? ent_eager_strings(text, NULL) : ent_lazy_strings(text);
}

/* Takes the columns of a table as vectors of some kinds. Factors have levels. */
SEXP ent_c_csv_fill(SEXP table, SEXP kinds, SEXP threads) {
    ent_csv *csv = ent_pointer_of(table, "a table of a text");
    R_xlen_t n = Rf_xlength(kinds), n_rows = (R_xlen_t)ent_csv_number(csv, ENT_CSV_COUNTS, 0);
    SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
    ent_csv_vector *vectors = (ent_csv_vector *)R_alloc((size_t)n + 1, sizeof *vectors);
    for (R_xlen_t i = 0; i < n; i++) {
        int kind = INTEGER(kinds)[i];
        vectors[i] = (ent_csv_vector){NULL, kind};
        if (kind == ENT_KIND_CHARACTER) continue;
        SET_VECTOR_ELT(out, i, Rf_allocVector(ent_kind_type(kind), n_rows));
        vectors[i].values = ent_memory(VECTOR_ELT(out, i));
    }
    ent_failure *failure = NULL;
    ent_watch();
    ent_csv_texts *texts = ent_csv_fill(csv, vectors, (size_t)n, Rf_asInteger(threads), ent_is_interrupted, &failure);
    ent_watched();
    if (texts == NULL) {
        UNPROTECT(1);
        return ent_failed(failure);
    }
    SEXP pointer = PROTECT(ent_hold(texts, free_texts, R_NilValue));
    for (R_xlen_t i = 0; i < n; i++) {
        if (INTEGER(kinds)[i] == ENT_KIND_CHARACTER) {
            SET_VECTOR_ELT(out, i, strings_of(ent_csv_strings(texts, (size_t)i, 0), n_rows));
        } else if (INTEGER(kinds)[i] == ENT_KIND_CODES) {
            ent_text *levels = ent_csv_strings(texts, (size_t)i, 1);
            SEXP made = PROTECT(levels == NULL ? Rf_allocVector(STRSXP, 0) : ent_eager_strings(levels, NULL));
            Rf_setAttrib(VECTOR_ELT(out, i), Rf_install("levels"), made);
            Rf_setAttrib(VECTOR_ELT(out, i), R_ClassSymbol, Rf_mkString("factor"));
            UNPROTECT(1);
        }
    }
    free_texts(pointer);
    free_csv(table);
    UNPROTECT(2);
    return out;
}

/* Writes a frame, or columns of an open file by their numbers, as text. The other one is NULL. */
SEXP ent_c_csv_write(SEXP file, SEXP frame, SEXP names, SEXP numbers, SEXP path, SEXP arguments) {
    ent_failure *failure = NULL;
    const ent_file *of = file == R_NilValue ? NULL : ent_pointer_of(file, "an open file");
    ent_builder *builder = frame == R_NilValue ? NULL : ent_pointer_of(frame, "a frame");
    const double *which = numbers == R_NilValue ? NULL : REAL(numbers);
    const ent_chars *named = texts_of(names);
    const ent_csv_argument *by = arguments_of(arguments);
    ent_watch();
    ent_csv_write(of, builder, named, which, (size_t)Rf_xlength(names), ent_chars_of(STRING_ELT(path, 0)), by,
                  (size_t)Rf_xlength(arguments), ent_is_interrupted, &failure);
    ent_watched();
    if (builder != NULL) ent_free_builder(frame);
    return failure == NULL ? R_NilValue : ent_failed(failure);
}

static void free_batches(SEXP pointer) {
    ent_csv_batches *batches = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (batches != NULL) ent_csv_close(batches);
}

/* Begins to read columns of the rows that pass, at most `limit` if it is not negative. */
SEXP ent_c_csv_open(SEXP table, SEXP columns, SEXP condition, SEXP limit) {
    ent_failure *failure = NULL;
    ent_csv_condition memory;
    const ent_csv_condition *tested;
    ent_csv *csv = ent_pointer_of(table, "a scanned text");
    SEXP nodes = PROTECT(condition_of(condition, &memory, &tested));
    ent_csv_batches *batches =
        ent_csv_open(csv, texts_of(columns), (size_t)Rf_xlength(columns), tested, Rf_asReal(limit), &failure);
    if (nodes != R_NilValue) ent_nodes_free(nodes);
    UNPROTECT(1);
    return batches == NULL ? ent_failed(failure) : ent_hold(batches, free_batches, R_NilValue);
}

/* Closes the text now instead of at the next garbage collection. */
SEXP ent_c_csv_close(SEXP batches) {
    free_batches(batches);
    return R_NilValue;
}

/* The result of a reading: a table with its facts, NULL for none, or a failure. */
static SEXP result_of(ent_csv *csv, ent_failure *failure) {
    if (failure != NULL) return ent_failed(failure);
    return csv == NULL ? R_NilValue : facts_of(csv);
}

/* The next `n` rows, all rows for 0, and only their number for -1. NULL after the last ones. */
SEXP ent_c_csv_next(SEXP batches, SEXP n) {
    ent_failure *failure = NULL;
    ent_csv_batches *of = ent_pointer_of(batches, "batches of a text");
    ent_watch();
    ent_csv *csv = ent_csv_next(of, Rf_asReal(n), ent_is_interrupted, &failure);
    ent_watched();
    return result_of(csv, failure);
}

/* The problems that were met so far, with a table that has no columns. */
SEXP ent_c_csv_met(SEXP batches) {
    ent_failure *failure = NULL;
    ent_csv *csv = ent_csv_met(ent_pointer_of(batches, "batches of a text"), &failure);
    return result_of(csv, failure);
}

/* Writes the rows that are left into a file. */
SEXP ent_c_csv_store(SEXP batches, SEXP path, SEXP options) {
    ent_failure *failure = NULL;
    ent_csv_batches *of = ent_pointer_of(batches, "batches of a text");
    ent_chars to = ent_chars_of(STRING_ELT(path, 0));
    ent_options by = ent_options_of(options);
    ent_watch();
    ent_csv *csv = ent_csv_store(of, to, by, ent_is_interrupted, &failure);
    ent_watched();
    return result_of(csv, failure);
}

/* Writes the rows that are left as text. */
SEXP ent_c_csv_write_batches(SEXP batches, SEXP path, SEXP arguments) {
    ent_failure *failure = NULL;
    ent_csv_batches *of = ent_pointer_of(batches, "batches of a text");
    ent_chars to = ent_chars_of(STRING_ELT(path, 0));
    const ent_csv_argument *by = arguments_of(arguments);
    ent_watch();
    ent_csv *csv = ent_csv_write_batches(of, to, by, (size_t)Rf_xlength(arguments), ent_is_interrupted, &failure);
    ent_watched();
    return result_of(csv, failure);
}
