/* Registers the functions that R code calls. */
#include "values.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define ENTRY(name, n) {"C_" #name, (DL_FUNC)ent_c_##name, n},

static const R_CallMethodDef calls[] = {ENT_CALLS(ENTRY){NULL, NULL, 0}};

attribute_visible void R_init_entasis(DllInfo *dll) {
    R_registerRoutines(dll, NULL, calls, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
    ent_init_altstring(dll);
}
