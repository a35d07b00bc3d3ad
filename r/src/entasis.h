/* The functions and structs of the Rust half (src/rust), which knows no R.
 *
 * Texts are UTF-8 with a length and without a terminating zero. Functions that may fail take
 * `failure` last and store a failure there, which the caller frees. Functions that end in `_free`
 * free the objects that others return.
 */
#ifndef ENTASIS_H
#define ENTASIS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ent_builder ent_builder;
typedef struct ent_cells ent_cells;     /* to write */
typedef struct ent_change ent_change;
typedef struct ent_compressed ent_compressed;
typedef struct ent_csv ent_csv; /* a text that was read */
typedef struct ent_csv_texts ent_csv_texts; /* its strings */
typedef struct ent_csv_batches ent_csv_batches; /* rows that are read batch by batch */
typedef struct ent_described ent_described;
typedef struct ent_failure ent_failure;
typedef struct ent_file ent_file;
typedef struct ent_found ent_found;
typedef struct ent_generations ent_generations;
typedef struct ent_row_numbers ent_row_numbers;
typedef struct ent_loaded ent_loaded;   /* cells that were read */
typedef struct ent_secret ent_secret;   /* a key or password */
typedef struct ent_strings ent_strings; /* to write */
typedef struct ent_text ent_text;       /* strings that were read */
typedef struct ent_tree ent_tree;

/* Whether the user wants the work to end. The arguments are the amount done and the total. */
typedef int (*ent_interrupted)(double done, double total);

typedef struct {
    const char *start;
    size_t len;
} ent_chars;

/* guard.rs */
typedef struct {
    ent_chars kind, message, file, section, column;
    double block, page, offset; /* -1: unknown */
} ent_failure_fields;

ent_failure_fields ent_failure_parts(const ent_failure *failure);
void ent_failure_free(ent_failure *failure);
int ent_is_utf8(ent_chars text);

/* nodes.rs: a value as an array of nodes, each before its children */
enum {
    ENT_NULL,
    ENT_FALSE,
    ENT_TRUE,
    ENT_INTEGER,
    ENT_FLOAT,
    ENT_STRING,
    ENT_BYTES,
    ENT_LIST,
    ENT_MAP,
    ENT_COLUMN,
    ENT_TABLE,
    ENT_CELL = 12
};

typedef struct {
    int32_t kind, n;
    int64_t integer;
    double number;
    ent_chars text;
} ent_node;

const ent_node *ent_tree_nodes(const ent_tree *tree, size_t *n);
void ent_tree_free(ent_tree *tree);

/* column.rs: kinds of vectors, as in R/kinds.R */
enum {
    ENT_KIND_LOGICAL = 1,
    ENT_KIND_INTEGER,
    ENT_KIND_DOUBLE,
    ENT_KIND_COMPLEX,
    ENT_KIND_RAW,
    ENT_KIND_CHARACTER,
    ENT_KIND_CODES,
    ENT_KIND_INTEGER64,
    ENT_KIND_DAYS,
    ENT_KIND_DAYS_INTEGER,
    ENT_KIND_INSTANT,
    ENT_KIND_INSTANT_INTEGER,
    ENT_KIND_SPAN,
    ENT_KIND_SPAN_INTEGER,
    ENT_KIND_LIST,
    ENT_KIND_WORDS,
    ENT_KIND_BYTES,
    ENT_KIND_WHOLE
};

/* cells.rs: trees to write. docs/format/values.md has the kinds of cells. */
enum {
    ENT_CELL_NULL = 0,
    ENT_CELL_FALSE = 1,
    ENT_CELL_TRUE = 2,
    ENT_CELL_NA = 4,
    ENT_CELL_INT = 16,
    ENT_CELL_NUMPY_INT64 = 24,
    ENT_CELL_REFERENCE = 29,
    ENT_CELL_TABLE = 30,
    ENT_CELL_FLOAT = 32,
    ENT_CELL_STRING = 40,
    ENT_CELL_BYTES = 48,
    ENT_CELL_LIST = 64,
    ENT_CELL_MAP = 68,
    ENT_CELL_OBJECT = 77,
    ENT_CELL_RECORDS = 78,
    ENT_CELL_ROWS = 79,
    ENT_CELL_ARRAY = 96,
    ENT_CELL_FORTRAN = 97
};

typedef struct {
    uint64_t pool, at, len;
} ent_pooled;

typedef struct { /* strings with other encodings than UTF-8 */
    const unsigned char *encodings;
    ent_pooled pooled;
} ent_encoded;

typedef struct { /* strings.rs: a string of R */
    uintptr_t address;
    const char *bytes;
    size_t len;
    int mark;
} ent_string;

ent_cells *ent_cells_new(ent_failure **failure);
uint64_t ent_cells_n(const ent_cells *cells);
int ent_cells_scalar(ent_cells *cells, int kind, int64_t integer, double number, ent_failure **failure);
int ent_cells_scalars(ent_cells *cells, int kind, const double *numbers, size_t n, ent_failure **failure);
int ent_cells_text(ent_cells *cells, ent_chars text, ent_failure **failure); /* 0: not UTF-8 */
ptrdiff_t ent_cells_parents(ent_cells *cells, int kind, size_t n, ent_failure **failure);
void ent_cells_children(ent_cells *cells, size_t parent, uint64_t first, uint64_t count, uint64_t keys);
void ent_cells_end(ent_cells *cells, size_t parent);
int ent_cells_numbers(ent_cells *cells, int kind, const void *values, size_t n, ent_pooled *pooled,
                      ent_failure **failure);
ent_strings *ent_cells_strings(ent_cells *cells, size_t n, ent_pooled *pooled, ent_failure **failure); /* borrowed */
int ent_cells_array(ent_cells *cells, ent_pooled pooled, const int *dim, size_t n_dim, ent_failure **failure);
int ent_cells_arrays(ent_cells *cells, int kind, const void *const *values, const size_t *lens, size_t n,
                     ent_failure **failure);
ptrdiff_t ent_cells_texts(ent_cells *cells, const ent_string *batch, const size_t *lens, size_t n, uintptr_t missing,
                          ent_encoded *encoded, ent_failure **failure);
int ent_cells_like(ent_cells *cells, size_t parent, int kind, const void *const *values, const size_t *lens, size_t n,
                   uint64_t attributes, ent_failure **failure);
void ent_cells_free(ent_cells *cells);

/* missing.rs, times.rs */
int ent_na_kind(const double *values, size_t n, ent_failure **failure);
int ent_exact_unit(const double *values, size_t n, int scale, int is_finest, ent_failure **failure);

/* strings.rs */
ptrdiff_t ent_strings_add_recent(ent_strings *strings, const uintptr_t *addresses, size_t n, uintptr_t missing,
                                 ent_failure **failure);
int ent_strings_add(ent_strings *strings, const ent_string *batch, size_t n, uintptr_t missing, ent_failure **failure);
const unsigned char *ent_strings_encodings(const ent_strings *strings, uint64_t at);

/* build.rs */
typedef struct {
    ent_chars name, zone;
    const void *values; /* null for strings */
    size_t n;
    int kind, variant, unit, seconds, na, levels, n_levels, ordered;
    double cell;
} ent_column;

ent_builder *ent_builder_new(double n_rows, ent_failure **failure);
ent_strings *ent_builder_strings(ent_builder *builder, size_t n, ent_failure **failure); /* borrowed */
int ent_builder_add(ent_builder *builder, const ent_column *column, int is_extra, ent_failure **failure);
int ent_builder_host(ent_builder *builder, const ent_node *nodes, size_t n_nodes, ent_failure **failure);
void ent_builder_free(ent_builder *builder);

/* options.rs */
typedef struct {
    int compression; /* -1: as the last write of a changed file, or the default */
    int threads;     /* 0: one per processor */
    int durable;     /* -1: if the file replaces one */
    int must_be_new; /* whether a file at the path is an error */
    int edition;     /* -1: the newest */
    double wait;     /* seconds */
} ent_options;

typedef struct {
    ent_chars path;
    ent_builder *const *frames;
    size_t n_frames;
    ent_cells *cells;          /* null for a single frame */
    double root, environments, metadata; /* cells, -1 for none; without a root the value is the first frame */
    ent_options options;
    ent_change *change;        /* null for a file that is not locked yet */
    int operation;             /* of the change: a code of docs/format/container.md */
} ent_new_file;

/* change.rs */
ent_change *ent_change_begin(ent_chars path, ent_options options, ent_interrupted interrupted, ent_failure **failure);
int ent_change_append(ent_change *change, ent_builder *builder, ent_options options, ent_interrupted interrupted,
                      ent_failure **failure); /* 0: other columns than those of the file */
int ent_change_rollback(ent_change *change, double generation, ent_options options, ent_interrupted interrupted,
                        ent_failure **failure);
int ent_change_keep(ent_change *change, int unit, double value, ent_options options, ent_interrupted interrupted,
                    ent_failure **failure);
int ent_change_compact(ent_change *change, int rekey, ent_options options, ent_interrupted interrupted,
                       ent_failure **failure);
void ent_change_free(ent_change *change);

/* stream.rs: streams are changes, to which ent_change_append adds batches */
ent_change *ent_stream_create(ent_chars path, ent_options options, ent_interrupted interrupted, ent_failure **failure);
int ent_stream_extend(ent_change *change, ent_options options, ent_failure **failure);
int ent_stream_check(const ent_change *stream, ent_failure **failure); /* -1 in a forked child */
ent_file *ent_stream_view(const ent_change *stream, ent_failure **failure); /* null: no batch yet, or a failure */
int ent_stream_finish(ent_change *stream, ent_failure **failure);

/* final_columns.rs */
typedef struct {
    const double *positions; /* among the columns of the file, or among new ones */
    const int *is_new;
    const ent_chars *names;
    size_t n;
    int operation;
} ent_final_columns;

int ent_change_columns(ent_change *change, ent_builder *builder, const ent_final_columns *columns, ent_options options,
                       ent_interrupted interrupted, ent_failure **failure); /* 0: the file must be written anew */

/* metadata.rs */
typedef struct {
    ent_cells *cells; /* null removes the metadata */
    double value, environments;
} ent_metadata;

int ent_change_metadata(ent_change *change, const ent_metadata *metadata, ent_options options,
                        ent_interrupted interrupted, ent_failure **failure); /* 0: the file must be written anew */

/* build.rs */
int ent_write(const ent_new_file *file, ent_interrupted interrupted, ent_failure **failure);

/* file.rs */
typedef struct {
    double n_rows, n_columns, n_columns_total, file_len, n_tables;
    double root, metadata, environments; /* cells, -1 for none */
    int is_own, is_encrypted, format_major, format_minor, edition;
    double generation;
} ent_facts;

typedef struct {
    ent_chars name, type_name, zone, physical, logical, unit;
    double number, n_values, n_missing, dictionary;
    int variant, ordered, precision, scale;
    double cell, first_child, n_children, value_len;
} ent_column_facts;

typedef struct {
    ent_chars name;
    double value;
} ent_limit;

ent_file *ent_open(ent_chars path, const ent_limit *limits, size_t n, int whole, ent_interrupted interrupted,
                   ent_failure **failure);
/* Fills `len` bytes of a context from an offset on, and returns 0; else writes a message. */
typedef int (*ent_fetch)(void *context, double at, double len, unsigned char *out, char *message, size_t room);
/* A file of `len` bytes, with those at its beginning and its end. Takes the context. */
ent_file *ent_open_source(ent_chars name, double len, ent_chars head, ent_chars tail, void *context, ent_fetch fetch,
                          void (*release)(void *), const ent_limit *limits, size_t n, ent_failure **failure);
/* Some columns and rows of a table of fst. NULL without a failure for other files and columns. */
ent_file *ent_open_fst(ent_chars path, const ent_limit *limits, size_t n, const ent_chars *columns, size_t n_columns,
                       double from, double to, ent_interrupted interrupted, ent_failure **failure);
int ent_check_len(const ent_file *file, double len, ent_failure **failure); /* 0: more than its limits allow */
ent_file *ent_table(const ent_file *file, double number, ent_failure **failure); /* -1: a view of all columns */
void ent_close(ent_file *file);
ent_facts ent_file_facts(const ent_file *file);
ent_tree *ent_host(const ent_file *file, ent_failure **failure);
ent_described *ent_describe(const ent_file *file, const double *numbers, size_t n, ent_failure **failure);
size_t ent_described_n(const ent_described *described);
ent_column_facts ent_described_at(const ent_described *described, size_t i);
void ent_described_free(ent_described *described);

/* folder.rs */
typedef struct {
    ent_chars folder, job;
    const ent_chars *paths;
    size_t n_files;
    const ent_chars *names, *types;
    size_t n_keys;
    const ent_chars *texts; /* of the keys, those of a file together */
    int replaces;
    double before; /* the number of the manifest to replace, or -1 */
} ent_committed;

ent_tree *ent_folder(ent_chars path, const ent_limit *limits, size_t n, ent_failure **failure);
ent_tree *ent_folder_state(ent_chars path, int is_read, ent_failure **failure);
ent_tree *ent_folder_names(ent_chars key, const ent_chars *values, size_t n, ent_failure **failure);
int ent_folder_commit(const ent_committed *of, ent_options options, ent_interrupted interrupted, ent_failure **failure);

/* damage.rs */
typedef struct {
    double checked_len, n_generations, leftover_len;
} ent_checked;

int ent_verify(ent_chars path, const ent_limit *limits, size_t n, double generation, ent_checked *checked,
               ent_interrupted interrupted, ent_failure **failure); /* generation 0: all */
double ent_repair(ent_chars path, ent_chars out, const ent_limit *limits, size_t n, ent_options options,
                  ent_interrupted interrupted, ent_failure **failure);
int ent_lost(const ent_file *file, ent_failure **failure); /* 0: opened in place of a damaged generation */

/* generations.rs */
typedef struct {
    double number, time; /* time: seconds since 1970, 0 when unknown */
    ent_chars operation;
    double n_rows, file_len; /* n_rows: -1 when the value is not a table */
} ent_generation;

ent_generations *ent_generations_of(const ent_file *file, ent_failure **failure);
size_t ent_generations_n(const ent_generations *generations);
ent_generation ent_generations_at(const ent_generations *generations, size_t i);
void ent_generations_free(ent_generations *generations);
int ent_is_worth_compacting(const ent_file *file, ent_failure **failure);
ent_file *ent_at_generation(const ent_file *file, double number, ent_failure **failure);

/* loaded.rs: trees that were read */
typedef struct {
    uint64_t pool, column, start, end, n;
    const void *values; /* null: C makes a vector of it */
    int kind;
} ent_pool;

typedef struct {
    int kind, class;
    int64_t integer;
    double number;
    ent_chars text; /* text, bytes, else the name of the kind */
    uint64_t of[4]; /* first, end, count, keys of a parent; pool, at, length, shape of an array */
} ent_cell;

typedef struct {
    uint64_t at, len;
} ent_span;

typedef struct {
    int64_t pool; /* -1: scalar doubles, whose bits are `at` */
    const ent_span *spans;
    size_t n;
} ent_small_vectors;

double ent_look(const ent_file *file, uint64_t number, ent_cell *cell, ent_failure **failure);
ent_loaded *ent_loaded_new(const ent_file *file, uint64_t *n_cells, ent_failure **failure);
int ent_loaded_close(ent_loaded *loaded, uint64_t start, uint64_t end, ent_interrupted interrupted,
                     ent_failure **failure);
int ent_loaded_cell(const ent_loaded *loaded, uint64_t number, ent_cell *cell, ent_failure **failure);
int ent_loaded_shape(const ent_loaded *loaded, uint64_t number, uint64_t n, double *shape, ent_failure **failure);
ptrdiff_t ent_loaded_small_vectors(ent_loaded *loaded, uint64_t number, uint64_t end, ent_small_vectors *vectors,
                                   ent_failure **failure);
const uint64_t *ent_loaded_targets(const ent_loaded *loaded, size_t *n);
const ent_pool *ent_loaded_pools(const ent_loaded *loaded, size_t *n);
void ent_loaded_free(ent_loaded *loaded);

/* read.rs */
typedef struct {
    double column;
    void *values; /* null for strings */
    size_t n;
    int kind, seconds, quiet, foreign;
} ent_want;

typedef struct {
    double row; /* from 0 on */
    uint64_t value; /* without its sign */
    int is_negative;
} ent_integer_at;

typedef struct {
    int kind; /* 0 all, 1 a range, 2 numbers */
    double start, stop;
    const double *numbers;
    size_t n;
} ent_rows;

ent_found *ent_read(const ent_file *file, const ent_want *wants, size_t n_wants, const ent_rows *rows,
                    ent_interrupted interrupted, ent_failure **failure);
ent_text *ent_found_strings(ent_found *found, size_t i);
int ent_found_rounded(const ent_found *found, size_t i, ent_integer_at *out);
void ent_found_free(ent_found *found);

/* filters.rs: rows for which a condition, as nodes, is true */
ent_row_numbers *ent_find_rows(const ent_file *file, const ent_node *nodes, size_t n_nodes, ent_interrupted interrupted,
                               ent_failure **failure);
size_t ent_row_numbers_n(const ent_row_numbers *rows);
void ent_row_numbers_take(ent_row_numbers *rows, double *out); /* from 1 on; frees them */
double ent_count_rows(const ent_file *file, const ent_node *nodes, size_t n_nodes, ent_interrupted interrupted,
                      ent_failure **failure); /* -1: a failure */
int ent_plan_rows(const ent_file *file, const ent_node *nodes, size_t n_nodes, double *counts, ent_failure **failure);

/* integers.rs */
int ent_beyond_integer64(const ent_file *file, double number, ent_integer_at *out, ent_failure **failure);
int ent_integer_fits(const ent_file *file, const double *numbers, size_t n, int *out, ent_failure **failure);
int ent_integers_fit(const int64_t *values, size_t n, int *out, ent_failure **failure);

/* text.rs */
size_t ent_text_n(const ent_text *text);
const uint64_t *ent_text_views(const ent_text *text);
const unsigned char *ent_text_validity(const ent_text *text);
const char *ent_text_get(const ent_text *text, size_t i, size_t *len);
void ent_text_free(ent_text *text);

/* secrets.rs: the secret in force opens the files of a call, and encrypts those that it writes */
ent_secret *ent_secret_key(ent_chars bytes, ent_failure **failure); /* a random one without a start */
ent_secret *ent_secret_file(ent_chars path, ent_failure **failure);
ent_secret *ent_secret_password(ent_chars text, ent_failure **failure);
const unsigned char *ent_secret_bytes(const ent_secret *secret); /* 32; null for a password */
ent_secret *ent_secret_use(const ent_secret *secret);            /* null: none; returns the one that was */
ent_secret *ent_secret_in_force(void);                           /* null: none */
void ent_secret_free(ent_secret *secret);

/* encryption.rs */
ent_secret *ent_unlock(ent_chars path, ent_failure **failure);
int ent_encrypt(ent_chars path, ent_chars out, int decrypts, ent_options options, ent_interrupted interrupted,
                ent_failure **failure); /* out without a start: in place */
int ent_add_key(ent_chars path, const ent_secret *secret, ent_options options, ent_interrupted interrupted,
                ent_failure **failure);
int ent_remove_key(ent_chars path, double number, ent_options options, ent_interrupted interrupted,
                   ent_failure **failure); /* number -1: the key that opens the file */
ent_tree *ent_keys(ent_chars path, ent_failure **failure);

/* convert.rs */
int ent_convert(ent_chars source, ent_chars path, int functions, ent_options options, ent_interrupted interrupted,
                ent_failure **failure);

/* csv.rs */
typedef struct {
    ent_chars content, name;
    int are_bytes;
} ent_csv_source;

typedef struct {
    ent_chars name;
    const ent_chars *values;
    size_t n;
} ent_csv_argument;

typedef struct {
    void *values; /* null for strings */
    int kind;
} ent_csv_vector;

typedef struct {
    const ent_chars *columns;
    size_t n_columns;
    const ent_node *nodes;
    size_t n_nodes;
} ent_csv_condition;

/* Lists of texts, then lists of numbers. */
enum {
    ENT_CSV_NAMES,
    ENT_CSV_TYPES,
    ENT_CSV_ROUNDED,
    ENT_CSV_ALL_NAMES,
    ENT_CSV_WARNINGS,
    ENT_CSV_PROBLEM_COLUMNS,
    ENT_CSV_PROBLEM_TEXTS,
    ENT_CSV_PROBLEM_EXPECTED,
    ENT_CSV_PROBLEM_FILES,
    ENT_CSV_REASON_PARTS,
    ENT_CSV_REASON_VALUES,
    ENT_CSV_REASONS,
    ENT_CSV_SPEC, /* the first of 7 lists */
    ENT_CSV_FITS = 20,
    ENT_CSV_PROBLEM_ROWS,
    ENT_CSV_PROBLEM_LINES,
    ENT_CSV_PROBLEM_BYTES,
    ENT_CSV_CONFIDENCES,
    ENT_CSV_COUNTS
};

ent_csv *ent_csv_read(const ent_csv_source *sources, size_t n_sources, const ent_csv_argument *arguments,
                      size_t n_arguments, const ent_csv_condition *condition, int sniffs, ent_interrupted interrupted,
                      ent_failure **failure);
size_t ent_csv_n(const ent_csv *csv, int list);
ent_chars ent_csv_text(const ent_csv *csv, int list, size_t i);
double ent_csv_number(const ent_csv *csv, int list, size_t i);
ent_failure *ent_csv_refused(ent_csv *csv);
ent_csv_texts *ent_csv_fill(ent_csv *csv, const ent_csv_vector *vectors, size_t n, int threads,
                            ent_interrupted interrupted, ent_failure **failure);
ent_text *ent_csv_strings(ent_csv_texts *texts, size_t i, int levels);
int ent_csv_write(const ent_file *file, ent_builder *builder, const ent_chars *names, const double *numbers, size_t n,
                  ent_chars path, const ent_csv_argument *arguments, size_t n_arguments, ent_interrupted interrupted,
                  ent_failure **failure);
void ent_csv_strings_free(ent_csv_texts *texts);
void ent_csv_free(ent_csv *csv);

/* csv/batches.rs */
ent_csv_batches *ent_csv_open(ent_csv *csv, const ent_chars *columns, size_t n_columns,
                              const ent_csv_condition *condition, double limit, ent_failure **failure);
void ent_csv_close(ent_csv_batches *batches);
ent_csv *ent_csv_next(ent_csv_batches *batches, double n, ent_interrupted interrupted, ent_failure **failure);
ent_csv *ent_csv_met(ent_csv_batches *batches, ent_failure **failure);
ent_csv *ent_csv_store(ent_csv_batches *batches, ent_chars path, ent_options options, ent_interrupted interrupted,
                       ent_failure **failure);
ent_csv *ent_csv_write_batches(ent_csv_batches *batches, ent_chars path, const ent_csv_argument *arguments,
                               size_t n_arguments, ent_interrupted interrupted, ent_failure **failure);

/* buffers.rs */
void ent_set_threads(size_t n);
size_t ent_threads(void);
ent_compressed *ent_compress(const void *bytes, size_t n, ent_chars codec, int level, size_t *len,
                             ent_interrupted interrupted, ent_failure **failure);
int ent_compressed_take(ent_compressed *compressed, void *out, size_t len, ent_failure **failure);
double ent_decompressed_len(const void *bytes, size_t n, double max_len, ent_failure **failure);
int ent_decompress(const void *bytes, size_t n, void *out, size_t len, ent_interrupted interrupted,
                   ent_failure **failure);
uint64_t ent_hash(const void *bytes, size_t n, uint64_t seed, ent_interrupted interrupted, ent_failure **failure);

#endif
