/* The functions and structs of the Rust half (src/rust), which knows no R.
 *
 * Texts are UTF-8 with a length, without a zero at their end. Functions that may fail take `failure` last and put one there;
 * whoever gets it frees it. What a function gives is freed by the function of the same name that ends in `_free`.
 */
#ifndef ENTASIS_H
#define ENTASIS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ent_builder ent_builder;
typedef struct ent_compressed ent_compressed;
typedef struct ent_described ent_described;
typedef struct ent_failure ent_failure;
typedef struct ent_file ent_file;
typedef struct ent_found ent_found;
typedef struct ent_strings ent_strings; /* to be written */
typedef struct ent_text ent_text;       /* that were read */
typedef struct ent_tree ent_tree;

typedef int (*ent_interrupted)(void);

typedef struct {
    const char *start;
    size_t len;
} ent_chars;

/* guard.rs */
typedef struct {
    ent_chars kind, message, file, section, column;
    double block, page, offset; /* -1: not told */
} ent_failure_fields;

ent_failure_fields ent_failure_parts(const ent_failure *failure);
void ent_failure_free(ent_failure *failure);

/* nodes.rs: values in a flat row, each before its children */
enum {
    ENT_NULL, ENT_FALSE, ENT_TRUE, ENT_INTEGER, ENT_FLOAT, ENT_STRING, ENT_BYTES, ENT_LIST, ENT_MAP, ENT_COLUMN, ENT_TABLE
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
    ENT_KIND_LOGICAL = 1, ENT_KIND_INTEGER, ENT_KIND_DOUBLE, ENT_KIND_COMPLEX, ENT_KIND_RAW, ENT_KIND_CHARACTER,
    ENT_KIND_CODES, ENT_KIND_INTEGER64, ENT_KIND_DAYS, ENT_KIND_DAYS_INTEGER, ENT_KIND_INSTANT,
    ENT_KIND_INSTANT_INTEGER, ENT_KIND_SPAN, ENT_KIND_SPAN_INTEGER
};

/* missing.rs, times.rs */
int ent_na_kind(const double *values, size_t n, ent_failure **failure);
int ent_exact_unit(const double *values, size_t n, int scale, ent_failure **failure);

/* strings.rs */
ent_strings *ent_strings_new(size_t n, ent_failure **failure);
ptrdiff_t ent_strings_again(ent_strings *strings, const uintptr_t *addresses, size_t n, uintptr_t missing,
                            ent_failure **failure);
int ent_strings_add(ent_strings *strings, uintptr_t address, const char *bytes, size_t len, int mark,
                    ent_failure **failure);
const unsigned char *ent_strings_kept(const ent_strings *strings);
void ent_strings_free(ent_strings *strings);

/* build.rs */
typedef struct {
    ent_chars name, zone;
    const void *values; /* for strings an ent_strings */
    size_t n;
    int kind, flavour, unit, seconds, na, levels, n_levels, ordered;
} ent_column;

ent_builder *ent_builder_new(double n_rows, ent_failure **failure);
int ent_builder_add(ent_builder *builder, const ent_column *column, int is_extra, ent_failure **failure);
int ent_builder_write(ent_builder *builder, ent_chars path, const ent_node *nodes, size_t n_nodes, int compression,
                      ent_interrupted interrupted, ent_failure **failure);
void ent_builder_free(ent_builder *builder);

/* file.rs */
typedef struct {
    double n_rows, n_columns, n_columns_total, file_len;
    int format_major, format_minor;
} ent_facts;

typedef struct {
    ent_chars name, type_name, zone, physical, logical, unit;
    double number, n_values, n_missing, dictionary;
    int flavour, ordered, precision, scale;
} ent_column_facts;

ent_file *ent_open(ent_chars path, ent_failure **failure);
void ent_close(ent_file *file);
ent_facts ent_file_facts(const ent_file *file);
ent_tree *ent_host(const ent_file *file, ent_failure **failure);
ent_described *ent_describe(const ent_file *file, const double *numbers, size_t n, ent_failure **failure);
size_t ent_described_n(const ent_described *described);
ent_column_facts ent_described_at(const ent_described *described, size_t i);
void ent_described_free(ent_described *described);
double ent_verify(ent_chars path, ent_interrupted interrupted, ent_failure **failure);

/* read.rs */
typedef struct {
    double column;
    void *values; /* null for strings */
    size_t n;
    int kind, seconds, quiet, foreign;
} ent_want;

typedef struct {
    int kind; /* 0 all, 1 a range, 2 numbers */
    double start, stop;
    const double *numbers;
    size_t n;
} ent_rows;

ent_found *ent_read(const ent_file *file, const ent_want *wants, size_t n_wants, const ent_rows *rows,
                    ent_interrupted interrupted, ent_failure **failure);
ent_text *ent_found_strings(ent_found *found, size_t i);
void ent_found_free(ent_found *found);

/* text.rs */
size_t ent_text_n(const ent_text *text);
const uint64_t *ent_text_views(const ent_text *text);
const unsigned char *ent_text_validity(const ent_text *text);
const char *ent_text_get(const ent_text *text, size_t i, size_t *len);
void ent_text_free(ent_text *text);

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
