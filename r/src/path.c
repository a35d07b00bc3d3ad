/* The path of a value, as the R code that users type to get there. */
#include "make_values.h"

/* Bytes of a path that are shown. */
#define LONGEST 200

typedef struct {
    char text[LONGEST + 1];
    size_t len;
} shown;

static void add(shown *out, const char *text, size_t len) {
    for (size_t i = 0; i < len && out->len < LONGEST; i++) {
        unsigned char c = (unsigned char)text[i];
        out->text[out->len++] = c < 32 || c == 127 ? '?' : (char)c;
    }
    out->text[out->len] = 0;
}

/* Adds the step from an unfinished value to the part that is being built, which is the one before
 * `next`. */
static void step(const maker *m, const unfinished_t *open, shown *out) {
    int is_list = open->kind >= ENT_CELL_LIST && open->kind < ENT_CELL_LIST + 4;
    int is_map = open->kind == ENT_CELL_MAP;
    if ((!is_list && !is_map) || open->count == 0 || open->next == open->first) return;
    uint64_t i = open->next - open->first - 1;
    /* Keys follow the values. */
    if (is_map && open->next - open->first > open->count) return;
    if (is_map) {
        ent_cell key = {0};
        ent_cell_at(m->s, open->keys + i, &key);
        if (key.kind == ENT_CELL_STRING) {
            add(out, "$", 1);
            add(out, key.text.start, key.text.len);
            return;
        }
    }
    char number[32];
    snprintf(number, sizeof number, "[[%llu]]", (unsigned long long)i + 1);
    add(out, number, strlen(number));
}

SEXP ent_make_path(const maker *m) {
    shown out = {.len = 0};
    /* The first one holds the requested cells. */
    for (int k = 1; k < m->n; k++) step(m, &m->unfinished[k], &out);
    /* The cut may be inside a character. */
    while (out.len > 0 && !ent_is_utf8((ent_chars){out.text, out.len})) out.len--;
    return Rf_ScalarString(Rf_mkCharLenCE(out.text, (int)out.len, CE_UTF8));
}
