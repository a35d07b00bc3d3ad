/* Open files, and reading of their columns. */
#include "values.h"

void ent_free_file(SEXP pointer) {
    ent_file *file = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (file != NULL) ent_close(file);
}

static void free_tree(SEXP pointer) {
    ent_tree *tree = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (tree != NULL) ent_tree_free(tree);
}

static void free_described(SEXP pointer) {
    ent_described *described = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (described != NULL) ent_described_free(described);
}

static void free_found(SEXP pointer) {
    ent_found *found = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    if (found != NULL) ent_found_free(found);
}

/* The limits of a named vector of doubles, in memory of R. */
const ent_limit *ent_limits_of(SEXP limits) {
    R_xlen_t n = Rf_xlength(limits);
    SEXP names = Rf_getAttrib(limits, R_NamesSymbol);
    ent_limit *out = (ent_limit *)R_alloc((size_t)n + 1, sizeof *out);
    for (R_xlen_t i = 0; i < n; i++) {
        out[i].name = ent_chars_of(STRING_ELT(names, i));
        out[i].value = REAL(limits)[i];
    }
    return out;
}

SEXP ent_c_open(SEXP path, SEXP limits, SEXP whole) {
    ent_failure *failure = NULL;
    const ent_limit *of_file = ent_limits_of(limits);
    ent_file *file = ent_open(ent_chars_of(STRING_ELT(path, 0)), of_file, (size_t)Rf_xlength(limits),
                              Rf_asLogical(whole), ent_is_interrupted, &failure);
    return file == NULL ? ent_failed(failure) : ent_hold(file, ent_free_file, R_NilValue);
}

/* Some columns and rows of a table of fst; NULL for other files, columns and rows. */
SEXP ent_c_open_fst(SEXP path, SEXP limits, SEXP columns, SEXP from, SEXP to) {
    ent_failure *failure = NULL;
    const ent_limit *of_file = ent_limits_of(limits);
    R_xlen_t n = Rf_xlength(columns);
    ent_chars *names = (ent_chars *)R_alloc((size_t)n + 1, sizeof *names);
    for (R_xlen_t i = 0; i < n; i++) names[i] = ent_chars_of(STRING_ELT(columns, i));
    ent_file *file = ent_open_fst(ent_chars_of(STRING_ELT(path, 0)), of_file, (size_t)Rf_xlength(limits), names,
                                  (size_t)n, Rf_asReal(from), Rf_asReal(to), ent_is_interrupted, &failure);
    if (file == NULL) return failure == NULL ? R_NilValue : ent_failed(failure);
    return ent_hold(file, ent_free_file, R_NilValue);
}

/* Closes a file now instead of at the next garbage collection. */
SEXP ent_c_shut(SEXP file) {
    if (TYPEOF(file) == EXTPTRSXP) ent_free_file(file);
    return R_NilValue;
}

/* A view of one table of a file, or of all columns for -1. */
SEXP ent_c_table(SEXP file, SEXP number) {
    ent_failure *failure = NULL;
    ent_file *table = ent_table(ent_pointer_of(file, "an open file"), Rf_asReal(number), &failure);
    return table == NULL ? ent_failed(failure) : ent_hold(table, ent_free_file, R_NilValue);
}

/* A file at an earlier generation. */
SEXP ent_c_at_generation(SEXP file, SEXP number) {
    ent_failure *failure = NULL;
    ent_file *earlier = ent_at_generation(ent_pointer_of(file, "an open file"), Rf_asReal(number), &failure);
    return earlier == NULL ? ent_failed(failure) : ent_hold(earlier, ent_free_file, R_NilValue);
}

/* False for a handle that was saved with another session. */
SEXP ent_c_is_open(SEXP file) { return Rf_ScalarLogical(TYPEOF(file) == EXTPTRSXP && R_ExternalPtrAddr(file) != NULL); }

SEXP ent_c_facts(SEXP file) {
    ent_facts facts = ent_file_facts(ent_pointer_of(file, "an open file"));
    static const char *names[] = {
        "n_rows",   "n_columns",    "n_columns_total", "file_len",   "format_version", "n_tables",     "root",
        "metadata", "environments", "is_own",          "generation", "edition",        "is_encrypted", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(out, 0, Rf_ScalarReal(facts.n_rows));
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal(facts.n_columns));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal(facts.n_columns_total));
    SET_VECTOR_ELT(out, 3, Rf_ScalarReal(facts.file_len));
    char version[32];
    snprintf(version, sizeof version, "%d.%d", facts.format_major, facts.format_minor);
    SET_VECTOR_ELT(out, 4, Rf_mkString(version));
    SET_VECTOR_ELT(out, 5, Rf_ScalarReal(facts.n_tables));
    SET_VECTOR_ELT(out, 6, Rf_ScalarReal(facts.root));
    SET_VECTOR_ELT(out, 7, Rf_ScalarReal(facts.metadata));
    SET_VECTOR_ELT(out, 8, Rf_ScalarReal(facts.environments));
    SET_VECTOR_ELT(out, 9, Rf_ScalarLogical(facts.is_own));
    SET_VECTOR_ELT(out, 10, Rf_ScalarReal(facts.generation));
    SET_VECTOR_ELT(out, 11, Rf_ScalarInteger(facts.edition));
    SET_VECTOR_ELT(out, 12, Rf_ScalarLogical(facts.is_encrypted));
    UNPROTECT(1);
    return out;
}

/* A tree as an R value. Frees the tree. */
SEXP ent_value_of(ent_tree *tree) {
    SEXP pointer = PROTECT(ent_hold(tree, free_tree, R_NilValue));
    size_t n;
    const ent_node *nodes = ent_tree_nodes(tree, &n);
    SEXP out = PROTECT(ent_from_nodes(nodes, n));
    free_tree(pointer);
    UNPROTECT(2);
    return out;
}

SEXP ent_c_host(SEXP file) {
    ent_failure *failure = NULL;
    ent_tree *tree = ent_host(ent_pointer_of(file, "an open file"), &failure);
    return tree == NULL ? ent_failed(failure) : ent_value_of(tree);
}

/* Facts about columns by their numbers, or about all columns of the table: a list of vectors with
 * an element for each column. */
SEXP ent_c_describe(SEXP file, SEXP numbers) {
    static const char *names[] = {"name",    "type",        "zone",       "physical",  "logical",
                                  "unit",    "number",      "n_values",   "n_missing", "dictionary",
                                  "cell",    "first_child", "n_children", "value_len", "variant",
                                  "ordered", "precision",   "scale",      ""};
    ent_failure *failure = NULL;
    const double *wanted = numbers == R_NilValue ? NULL : REAL(numbers);
    /* An empty vector has a pointer other than NULL, so it does not mean all columns. */
    ent_described *described =
        ent_describe(ent_pointer_of(file, "an open file"), wanted, (size_t)Rf_xlength(numbers), &failure);
    if (described == NULL) return ent_failed(failure);
    SEXP pointer = PROTECT(ent_hold(described, free_described, R_NilValue));
    R_xlen_t n = (R_xlen_t)ent_described_n(described);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    for (int k = 0; k < 18; k++) SET_VECTOR_ELT(out, k, Rf_allocVector(k < 6 ? STRSXP : k < 14 ? REALSXP : INTSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        ent_column_facts facts = ent_described_at(described, (size_t)i);
        const ent_chars texts[] = {facts.name, facts.type_name, facts.zone, facts.physical, facts.logical, facts.unit};
        const double reals[] = {facts.number, facts.n_values,    facts.n_missing,  facts.dictionary,
                                facts.cell,   facts.first_child, facts.n_children, facts.value_len};
        const int integers[] = {facts.variant, facts.ordered, facts.precision, facts.scale};
        for (int k = 0; k < 6; k++) {
            int has_zero = texts[k].len > 0 && memchr(texts[k].start, 0, texts[k].len) != NULL;
            if (has_zero) Rf_warning("a name is cut at its zero character");
            ent_chars chars = texts[k];
            if (has_zero) chars.len = strlen(chars.start);
            SET_STRING_ELT(VECTOR_ELT(out, k), i, ent_char(chars));
        }
        for (int k = 0; k < 8; k++) REAL(VECTOR_ELT(out, 6 + k))[i] = reals[k];
        for (int k = 0; k < 4; k++) INTEGER(VECTOR_ELT(out, 14 + k))[i] = integers[k];
    }
    free_described(pointer);
    UNPROTECT(2);
    return out;
}

static void *memory_at(SEXP vector, R_xlen_t at) {
    char *memory = ent_memory(vector);
    return memory == NULL ? NULL : memory + (size_t)at * ent_type_width(TYPEOF(vector));
}

static int is_text(int kind) { return kind == ENT_KIND_CHARACTER || kind == ENT_KIND_BYTES; }

/* The plan of `ent_c_read`, with an element for each column, and what follows from it. */
typedef struct {
    R_xlen_t n;
    const double *columns, *lengths;
    const int *kinds, *seconds, *quiet, *vectors, *encodings, *lazy;
    int foreign, n_results;
    /* The position of each column in its result. */
    double *starts;
    /* The length of each result. */
    double *totals;
} read_plan;

static read_plan plan_of(SEXP plan) {
    SEXP columns = ent_element(plan, "column");
    read_plan out = {
        .n = Rf_xlength(columns),
        .columns = REAL(columns),
        .lengths = REAL(ent_element(plan, "n")),
        .kinds = INTEGER(ent_element(plan, "kind")),
        .seconds = INTEGER(ent_element(plan, "seconds")),
        .quiet = INTEGER(ent_element(plan, "quiet")),
        .vectors = INTEGER(ent_element(plan, "vector")),
        .encodings = INTEGER(ent_element(plan, "encodings")),
        .lazy = INTEGER(ent_element(plan, "lazy")),
        .foreign = Rf_asLogical(ent_element(plan, "foreign")),
    };
    for (R_xlen_t i = 0; i < out.n; i++) {
        if (out.vectors[i] > out.n_results) out.n_results = out.vectors[i];
    }
    out.totals = (double *)R_alloc((size_t)out.n_results + 1, sizeof(double));
    out.starts = (double *)R_alloc((size_t)out.n + 1, sizeof(double));
    for (int k = 0; k < out.n_results; k++) out.totals[k] = 0;
    for (R_xlen_t i = 0; i < out.n; i++) {
        out.starts[i] = out.totals[out.vectors[i] - 1];
        out.totals[out.vectors[i] - 1] += out.lengths[i];
    }
    return out;
}

/* The bytes of all results. */
static double planned_len(const read_plan *plan) {
    double len = 0;
    for (R_xlen_t i = 0; i < plan->n; i++) {
        len += plan->lengths[i] * (double)ent_type_width(ent_kind_type(plan->kinds[i]));
    }
    return len;
}

/* Allocates the results, except for vectors with the strings of a single column, which are made
 * after reading. */
static void allocate_results(const read_plan *plan, SEXP results) {
    for (R_xlen_t i = 0; i < plan->n; i++) {
        int k = plan->vectors[i] - 1;
        double total = plan->totals[k];
        if (total > (double)R_XLEN_T_MAX) ent_no_counterpart("a vector that is longer than those of R");
        int by_itself = is_text(plan->kinds[i]) && plan->lengths[i] == total && total > 0;
        if (VECTOR_ELT(results, k) == R_NilValue && !by_itself) {
            SET_VECTOR_ELT(results, k, Rf_allocVector(ent_kind_type(plan->kinds[i]), (R_xlen_t)total));
        }
    }
}

/* Requests that decode each column into its part of a result, in memory of R. */
static const ent_want *wants_of(const read_plan *plan, SEXP results) {
    ent_want *wants = (ent_want *)R_alloc((size_t)plan->n + 1, sizeof(ent_want));
    for (R_xlen_t i = 0; i < plan->n; i++) {
        SEXP result = VECTOR_ELT(results, plan->vectors[i] - 1);
        if (result != R_NilValue && (SEXPTYPE)TYPEOF(result) != ent_kind_type(plan->kinds[i])) {
            ent_nonsense("columns of one vector differ");
        }
        wants[i].column = plan->columns[i];
        wants[i].values = result == R_NilValue ? NULL : memory_at(result, (R_xlen_t)plan->starts[i]);
        wants[i].n = (size_t)plan->lengths[i];
        wants[i].kind = plan->kinds[i];
        wants[i].seconds = plan->seconds[i];
        wants[i].quiet = plan->quiet[i];
        wants[i].foreign = plan->foreign;
    }
    return wants;
}

static ent_rows rows_of(SEXP rows) {
    SEXP numbers = VECTOR_ELT(rows, 3);
    return (ent_rows){
        .kind = Rf_asInteger(VECTOR_ELT(rows, 0)),
        .start = Rf_asReal(VECTOR_ELT(rows, 1)),
        .stop = Rf_asReal(VECTOR_ELT(rows, 2)),
        .numbers = numbers == R_NilValue ? NULL : REAL(numbers),
        .n = (size_t)Rf_xlength(numbers),
    };
}

/* The encodings of the strings of a column, or NULL if all strings are in UTF-8. */
static const unsigned char *encodings_of(const read_plan *plan, R_xlen_t column, SEXP results) {
    int position = plan->encodings[column];
    if (position == 0 || plan->lengths[column] <= 0) return NULL;
    return RAW(VECTOR_ELT(results, plan->vectors[position - 1] - 1)) + (R_xlen_t)plan->starts[position - 1];
}

/* Puts the strings of a column into its result. Returns whether their encodings are valid. */
static int store_strings(const read_plan *plan, R_xlen_t column, ent_text *text, SEXP results) {
    int at = plan->vectors[column] - 1;
    SEXP result = VECTOR_ELT(results, at);
    const unsigned char *encodings = encodings_of(plan, column, results);
    if (result == R_NilValue && encodings == NULL && plan->lazy[column]) {
        SET_VECTOR_ELT(results, at, ent_lazy_strings(text));
        return 1;
    }
    SEXP strings = ent_eager_strings(text, encodings);
    if (strings == NULL) return 0;
    PROTECT(strings);
    if (result == R_NilValue) {
        SET_VECTOR_ELT(results, at, strings);
    } else {
        R_xlen_t start = (R_xlen_t)plan->starts[column];
        for (R_xlen_t k = 0; k < Rf_xlength(strings); k++) SET_STRING_ELT(result, start + k, STRING_ELT(strings, k));
    }
    UNPROTECT(1);
    return 1;
}

/* Puts the strings and bytes that were read into the results. Returns whether the encodings of
 * strings are valid. */
static int store_texts(const read_plan *plan, ent_found *found, SEXP results) {
    for (R_xlen_t i = 0; i < plan->n; i++) {
        if (!is_text(plan->kinds[i])) continue;
        ent_text *text = ent_found_strings(found, (size_t)i);
        if (plan->kinds[i] == ENT_KIND_BYTES) {
            SEXP list = ent_raw_list(text);
            if (plan->lengths[i] > 0) SET_VECTOR_ELT(results, plan->vectors[i] - 1, list);
        } else if (!store_strings(plan, i, text, results)) {
            return 0;
        }
    }
    return 1;
}

/* For each column the first integer that was rounded to a double, or NULL. */
static SEXP rounded_integers(const read_plan *plan, ent_found *found) {
    SEXP out = PROTECT(Rf_allocVector(VECSXP, plan->n));
    for (R_xlen_t i = 0; i < plan->n; i++) {
        ent_integer_at at;
        if (ent_found_rounded(found, (size_t)i, &at)) SET_VECTOR_ELT(out, i, ent_integer_shown(at));
    }
    UNPROTECT(1);
    return out;
}

/* Reads columns into vectors.
 *
 * `description` is a list of vectors with an element for each column: its number `column`, its
 * `kind`, `seconds` and `quiet`, its length `n`, and `vector`, the number (from 1) of its result.
 * Columns of one result follow one another. `encodings` is the position (from 1) of the column
 * with the encodings of its strings, or 0. `lazy` is whether strings may be created on first
 * access. `foreign` is a single value: whether another host wrote the file. `rows` is a list of
 * kind, start, stop and numbers. The attribute `rounded` of the result has for each column the
 * first integer that was rounded to a double, or NULL.
 */
SEXP ent_c_read(SEXP file, SEXP description, SEXP rows) {
    ent_failure *failure = NULL;
    read_plan plan = plan_of(description);
    const ent_file *opened = ent_pointer_of(file, "an open file");
    if (!ent_check_len(opened, planned_len(&plan), &failure)) return ent_failed(failure);
    SEXP results = PROTECT(Rf_allocVector(VECSXP, plan.n_results));
    allocate_results(&plan, results);
    const ent_want *wants = wants_of(&plan, results);
    ent_rows selected = rows_of(rows);
    ent_watch();
    ent_found *found = ent_read(opened, wants, (size_t)plan.n, &selected, ent_is_interrupted, &failure);
    ent_watched();
    if (found == NULL) {
        UNPROTECT(1);
        return ent_failed(failure);
    }
    SEXP pointer = PROTECT(ent_hold(found, free_found, R_NilValue));
    if (!store_texts(&plan, found, results)) {
        UNPROTECT(2);
        return Rf_mkString("string encodings are invalid");
    }
    SEXP rounded = PROTECT(rounded_integers(&plan, found));
    Rf_setAttrib(results, Rf_install("rounded"), rounded);
    free_found(pointer);
    UNPROTECT(3);
    return results;
}

/* Bytes checked, generations, and bytes after their end. Generation 0 stands for all. */
SEXP ent_c_verify(SEXP path, SEXP limits, SEXP generation) {
    ent_failure *failure = NULL;
    ent_checked checked;
    const ent_limit *of_file = ent_limits_of(limits);
    ent_watch();
    int done = ent_verify(ent_chars_of(STRING_ELT(path, 0)), of_file, (size_t)Rf_xlength(limits), Rf_asReal(generation),
                          &checked, ent_is_interrupted, &failure);
    ent_watched();
    if (done < 0) return ent_failed(failure);
    SEXP out = Rf_allocVector(REALSXP, 3);
    REAL(out)[0] = checked.checked_len;
    REAL(out)[1] = checked.n_generations;
    REAL(out)[2] = checked.leftover_len;
    return out;
}

/* Writes the intact values of a file to another. The number of damaged places. */
SEXP ent_c_repair(SEXP path, SEXP out, SEXP limits, SEXP options) {
    ent_failure *failure = NULL;
    const ent_limit *of_file = ent_limits_of(limits);
    ent_chars from = ent_chars_of(STRING_ELT(path, 0)), to = ent_chars_of(STRING_ELT(out, 0));
    ent_watch();
    double n = ent_repair(from, to, of_file, (size_t)Rf_xlength(limits), ent_options_of(options), ent_is_interrupted,
                          &failure);
    ent_watched();
    return n < 0 ? ent_failed(failure) : Rf_ScalarReal(n);
}

/* The damage of the current generation, if an earlier one was opened instead. */
SEXP ent_c_lost(SEXP file) {
    ent_failure *failure = NULL;
    return ent_lost(ent_pointer_of(file, "an open file"), &failure) ? R_NilValue : ent_failed(failure);
}
