#ifndef R_API_RDYNLOAD_H
#define R_API_RDYNLOAD_H

#include "../Rinternals.h"

typedef void *(*DL_FUNC)(void);

typedef struct {
    const char *name;
    DL_FUNC fun;
    int numArgs;
} R_CallMethodDef;

int R_registerRoutines(DllInfo *info, const void *c, const R_CallMethodDef *call, const void *fortran,
                       const void *external);
Rboolean R_useDynamicSymbols(DllInfo *info, Rboolean value);
Rboolean R_forceSymbols(DllInfo *info, Rboolean value);

#endif
