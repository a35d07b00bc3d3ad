/* 64-bit integers: conversion to R's integers, and a record of whether values of class integer64
 * were made. */
#include "values.h"

/* R code checks this after building values, and loads bit64. */
static int has_made;

void ent_note_class(SEXP class) {
    if (TYPEOF(class) != STRSXP) return;
    for (R_xlen_t i = 0; i < Rf_xlength(class); i++) {
        if (strcmp(CHAR(STRING_ELT(class, i)), "integer64") == 0) has_made = 1;
    }
}

/* Returns whether integer64 was made, and sets the record to `next`. */
SEXP ent_c_has_made_integer64(SEXP next) {
    int found = has_made;
    has_made = Rf_asLogical(next) == TRUE;
    return Rf_ScalarLogical(found);
}

/* The narrowest type for all values of each column of integers: 0 integers, 1 integer64, 2 doubles.
 */
SEXP ent_c_integer_fits(SEXP file, SEXP numbers) {
    ent_failure *failure = NULL;
    R_xlen_t n = Rf_xlength(numbers);
    SEXP out = PROTECT(Rf_allocVector(INTSXP, n));
    if (ent_integer_fits(ent_pointer_of(file, "an open file"), REAL(numbers), (size_t)n, INTEGER(out), &failure) < 0) {
        UNPROTECT(1);
        return ent_failed(failure);
    }
    UNPROTECT(1);
    return out;
}

/* Converts a vector of integer64 to integers if all values fit; else returns the vector. */
SEXP ent_fitting(SEXP x) {
    ent_failure *failure = NULL;
    R_xlen_t n = Rf_xlength(x);
    const int64_t *values = (const int64_t *)DATAPTR_RO(x);
    int fits = ent_integers_fit(values, (size_t)n, NULL, &failure);
    if (fits < 0) ent_fail(failure);
    if (!fits) return x;
    PROTECT(x);
    SEXP out = PROTECT(Rf_allocVector(INTSXP, n));
    if (ent_integers_fit(values, (size_t)n, INTEGER(out), &failure) < 0) ent_fail(failure);
    UNPROTECT(2);
    return out;
}
