/* Variables of environments and arguments in `...`, without forcing any.
 *
 * A promise that was not forced is represented by an external pointer of its own while a tree is
 * written, because R documents promises only as bindings.
 */
#include "walker.h"

/* No other pointer in a session has this address. */
static char delayed_mark;

int ent_is_delayed(SEXP x) { return TYPEOF(x) == EXTPTRSXP && R_ExternalPtrAddr(x) == &delayed_mark; }

SEXP ent_delayed_expression(SEXP delayed) { return R_ExternalPtrTag(delayed); }

SEXP ent_delayed_environment(SEXP delayed) { return R_ExternalPtrProtected(delayed); }

/* A promise of a constant is its value: there is nothing to evaluate. */
static SEXP delayed_of(SEXP expression, SEXP env) {
    int type = TYPEOF(expression);
    if (type != SYMSXP && type != LANGSXP) return expression;
    PROTECT(expression);
    PROTECT(env);
    SEXP delayed = R_MakeExternalPtr(&delayed_mark, expression, env);
    UNPROTECT(2);
    return delayed;
}

/* The value of a variable, or the promise that it is. NULL for an active binding. */
static SEXP variable_of(SEXP symbol, SEXP env, R_BindingType_t type) {
    switch (type) {
    case R_BindingTypeValue:
    case R_BindingTypeForced: return R_getVarEx(symbol, env, FALSE, R_NilValue);
    case R_BindingTypeMissing: return R_MissingArg;
    case R_BindingTypeDelayed:
        return delayed_of(R_DelayedBindingExpression(symbol, env), R_DelayedBindingEnvironment(symbol, env));
    default: return R_NilValue;
    }
}

/* The value of an argument in `...`, by its number from 1 on, or the promise that it is. */
static SEXP argument_of(int i, SEXP env) {
    switch (R_GetDotType(i, env)) {
    case R_DotTypeMissing: return R_MissingArg;
    case R_DotTypeDelayed: return delayed_of(R_DotDelayedExpression(i, env), R_DotDelayedEnvironment(i, env));
    default: return R_DotsElt(i, env);
    }
}

/* The value of a promise outside of an environment, or its representation. */
SEXP ent_promise(SEXP promise) {
    SEXP symbol = Rf_install("promise");
    SEXP env = PROTECT(R_NewEnv(R_EmptyEnv, FALSE, 0));
    Rf_defineVar(symbol, promise, env);
    SEXP value = variable_of(symbol, env, R_GetBindingType(symbol, env));
    UNPROTECT(1);
    return value;
}

/* The arguments in a `...`, as a pairlist with their names. */
SEXP ent_dots(SEXP dots) {
    SEXP env = PROTECT(R_NewEnv(R_EmptyEnv, FALSE, 0));
    Rf_defineVar(R_DotsSymbol, dots, env);
    int n = R_DotsLength(env);
    SEXP names = PROTECT(R_DotsNames(env));
    SEXP all = PROTECT(Rf_allocList(n)), node = all;
    for (int i = 0; i < n; i++, node = CDR(node)) {
        SETCAR(node, argument_of(i + 1, env));
        if (names == R_NilValue || LENGTH(STRING_ELT(names, i)) == 0) continue;
        SET_TAG(node, Rf_installTrChar(STRING_ELT(names, i)));
    }
    UNPROTECT(3);
    return all;
}

/* The variables of an environment by name: values (promises unforced, NULL for active bindings),
 * which bindings are active, and which are locked. */
SEXP ent_c_bindings(SEXP env, SEXP names) {
    static const char *fields[] = {"values", "active", "locked", ""};
    R_xlen_t n = Rf_xlength(names);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP values = Rf_allocVector(VECSXP, n);
    SET_VECTOR_ELT(out, 0, values);
    SEXP active = Rf_allocVector(LGLSXP, n);
    SET_VECTOR_ELT(out, 1, active);
    SEXP locked = Rf_allocVector(LGLSXP, n);
    SET_VECTOR_ELT(out, 2, locked);
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP symbol = Rf_installTrChar(STRING_ELT(names, i));
        R_BindingType_t type = R_GetBindingType(symbol, env);
        LOGICAL(active)[i] = type == R_BindingTypeActive;
        LOGICAL(locked)[i] = R_BindingIsLocked(symbol, env) ? 1 : 0;
        SET_VECTOR_ELT(values, i, variable_of(symbol, env, type));
    }
    UNPROTECT(1);
    return out;
}

/* The arguments in the `...` of an environment itself, or NULL. */
static SEXP dots_of(SEXP env) {
    return R_DotsExist(env) ? R_getVarEx(R_DotsSymbol, env, FALSE, R_NilValue) : R_NilValue;
}

/* Gives an environment the `...` of another one. An argument with an environment in `frames`
 * becomes the promise in that environment's `...`. An argument with NA in `frames` is missing. */
SEXP ent_c_dots(SEXP env, SEXP from, SEXP frames) {
    if (TYPEOF(env) != ENVSXP || TYPEOF(from) != ENVSXP || TYPEOF(frames) != VECSXP) {
        Rf_error("dots without an environment");
    }
    SEXP dots = PROTECT(dots_of(from)), node = dots;
    for (R_xlen_t i = 0; i < Rf_xlength(frames) && node != R_NilValue; node = CDR(node), i++) {
        SEXP frame = VECTOR_ELT(frames, i);
        if (TYPEOF(frame) == ENVSXP && R_DotsExist(frame)) SETCAR(node, CAR(dots_of(frame)));
        if (TYPEOF(frame) == LGLSXP) SETCAR(node, R_MissingArg);
    }
    if (dots != R_NilValue) Rf_defineVar(R_DotsSymbol, dots, env);
    UNPROTECT(1);
    return R_NilValue;
}
