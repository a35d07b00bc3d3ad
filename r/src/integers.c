/* 64-bit integers: conversion to R's integers, and a record of whether values of class integer64
 * were made. */
#include "values.h"

/* R code checks this record after building values, and loads bit64. */
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

/* A list of the row, from 1 on, and the digits of an integer. */
SEXP ent_integer_shown(ent_integer_at at) {
    static const char *fields[] = {"row", "value", ""};
    char digits[32];
    snprintf(digits, sizeof digits, "%s%llu", at.is_negative ? "-" : "", (unsigned long long)at.value);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_ScalarReal(at.row + 1));
    SET_VECTOR_ELT(out, 1, Rf_mkString(digits));
    UNPROTECT(1);
    return out;
}

/* The first value of a column that integer64 does not hold, or NULL. */
SEXP ent_c_beyond_integer64(SEXP file, SEXP number) {
    ent_failure *failure = NULL;
    ent_integer_at at;
    int found = ent_beyond_integer64(ent_pointer_of(file, "an open file"), Rf_asReal(number), &at, &failure);
    return found < 0 ? ent_failed(failure) : found == 0 ? R_NilValue : ent_integer_shown(at);
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
