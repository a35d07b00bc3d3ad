/* The functions that R code calls. */
#include "glue.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define ENTRY(name, n) {"C_" #name, (DL_FUNC)&ent_c_##name, n}

static const R_CallMethodDef calls[] = {
    ENTRY(strings, 1), ENTRY(kept, 2),     ENTRY(na_kind, 1),  ENTRY(exact_unit, 2), ENTRY(write, 5),
    ENTRY(frame, 4),   ENTRY(walker, 1),   ENTRY(walk, 2),     ENTRY(walk_place, 1), ENTRY(references, 2), ENTRY(bindings, 2), ENTRY(dots, 2),
    ENTRY(table, 2),   ENTRY(load, 1),     ENTRY(close, 3),    ENTRY(pools, 2),     ENTRY(look, 2),  ENTRY(make, 3), ENTRY(split, 3),
    ENTRY(open, 1),    ENTRY(is_open, 1),  ENTRY(facts, 1),    ENTRY(host, 1),       ENTRY(describe, 2),
    ENTRY(read, 3),    ENTRY(verify, 1),   ENTRY(threads, 1),  ENTRY(compress, 3),   ENTRY(decompress, 2),
    ENTRY(hash, 2),    ENTRY(materialised, 1), ENTRY(decorate, 3), {NULL, NULL, 0},
};

attribute_visible void R_init_entasis(DllInfo *dll) {
    R_registerRoutines(dll, NULL, calls, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
    ent_init_altstring(dll);
}
