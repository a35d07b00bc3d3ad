/* Classes of vectors that compute their elements: in an installed header, and not in the manual. */
#ifndef R_API_ALTREP_H
#define R_API_ALTREP_H

#include "../Rinternals.h"

typedef struct {
    SEXP ptr;
} R_altrep_class_t;

R_altrep_class_t R_make_altstring_class(const char *class, const char *package, DllInfo *info);
SEXP R_new_altrep(R_altrep_class_t class, SEXP data1, SEXP data2);
Rboolean R_altrep_inherits(SEXP x, R_altrep_class_t class);
SEXP R_altrep_data1(SEXP x);
SEXP R_altrep_data2(SEXP x);
void R_set_altrep_data2(SEXP x, SEXP value);

void R_set_altrep_Length_method(R_altrep_class_t class, R_xlen_t (*method)(SEXP));
void R_set_altrep_Inspect_method(R_altrep_class_t class,
                                 Rboolean (*method)(SEXP, int, int, int, void (*)(SEXP, int, int, int)));
void R_set_altvec_Dataptr_method(R_altrep_class_t class, void *(*method)(SEXP, Rboolean));
void R_set_altvec_Dataptr_or_null_method(R_altrep_class_t class, const void *(*method)(SEXP));
void R_set_altvec_Extract_subset_method(R_altrep_class_t class, SEXP (*method)(SEXP, SEXP, SEXP));
void R_set_altstring_Elt_method(R_altrep_class_t class, SEXP (*method)(SEXP, R_xlen_t));
void R_set_altstring_Set_elt_method(R_altrep_class_t class, void (*method)(SEXP, R_xlen_t, SEXP));
void R_set_altstring_No_NA_method(R_altrep_class_t class, int (*method)(SEXP));

#endif
