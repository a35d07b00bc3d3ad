/* Reads the host map of R or another host, whose key `columns` has descriptions of columns. */
#include "values.h"

static SEXP take_part(SEXP key, const ent_node **at, const ent_node *end) {
    int are_columns = strcmp(CHAR(key), "columns") == 0 && *at < end && (*at)->kind == ENT_LIST;
    return are_columns ? ent_take_columns(at, end) : ent_take(at, end);
}

SEXP ent_from_nodes(const ent_node *nodes, size_t n) {
    const ent_node *at = nodes, *end = nodes + n;
    if (n == 0 || nodes->kind != ENT_MAP) return ent_take(&at, end);
    at++;
    return ent_take_map(&at, end, nodes->n, take_part);
}
