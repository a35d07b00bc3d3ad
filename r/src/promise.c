/* Promises and bindings of environments, as they are: nothing is forced here.
 *
 * All that depends on how R keeps promises stands in this file. R before 4.6 has no documented function that looks at one without
 * forcing it. From 4.6 on R_GetBindingType, R_DelayedBindingExpression and R_DelayedBindingEnvironment do, and R_GetDotType,
 * R_DotDelayedExpression and R_DotDelayedEnvironment for the arguments in `...`.
 */
#include "walk.h"

/* The promise that counts: one that was not evaluated may be of another promise. */
static SEXP innermost(SEXP promise) {
    while (PRVALUE(promise) == R_UnboundValue && TYPEOF(R_PromiseExpr(promise)) == PROMSXP) promise = R_PromiseExpr(promise);
    return promise;
}

/* The value of a promise that was evaluated or is of a constant, else NULL. */
SEXP ent_promise_value(SEXP promise) {
    promise = innermost(promise);
    if (PRVALUE(promise) != R_UnboundValue) return PRVALUE(promise);
    SEXP expression = R_PromiseExpr(promise);
    int type = TYPEOF(expression);
    return type == SYMSXP || type == LANGSXP || type == BCODESXP ? NULL : expression;
}

SEXP ent_promise_expression(SEXP promise) { return R_PromiseExpr(innermost(promise)); }

SEXP ent_promise_environment(SEXP promise) { return PRENV(innermost(promise)); }

/* The bindings of an environment by their names: the values, promises among them and NULL for active bindings, which of them are active,
 * and which are locked. */
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
        LOGICAL(active)[i] = R_BindingIsActive(symbol, env) ? 1 : 0;
        LOGICAL(locked)[i] = R_BindingIsLocked(symbol, env) ? 1 : 0;
        if (!LOGICAL(active)[i]) SET_VECTOR_ELT(values, i, Rf_findVarInFrame3(env, symbol, TRUE));
    }
    UNPROTECT(1);
    return out;
}

/* Gives an environment the arguments of another one's `...`. Those that have a name in `delayed` are the promises of that name in the
 * environment `promises`. */
SEXP ent_c_dots(SEXP env, SEXP from, SEXP delayed, SEXP promises) {
    if (TYPEOF(env) != ENVSXP || TYPEOF(from) != ENVSXP || TYPEOF(promises) != ENVSXP || TYPEOF(delayed) != STRSXP) {
        Rf_error("dots without an environment");
    }
    SEXP dots = PROTECT(Rf_findVarInFrame3(from, R_DotsSymbol, TRUE));
    if (dots != R_UnboundValue) {
        R_xlen_t i = 0;
        for (SEXP node = dots; (TYPEOF(node) == DOTSXP || TYPEOF(node) == LISTSXP) && i < Rf_xlength(delayed); node = CDR(node), i++) {
            if (LENGTH(STRING_ELT(delayed, i)) == 0) continue;
            SEXP promise = Rf_findVarInFrame3(promises, Rf_installTrChar(STRING_ELT(delayed, i)), TRUE);
            if (promise != R_UnboundValue) SETCAR(node, promise);
        }
        Rf_defineVar(R_DotsSymbol, dots, env);
    }
    UNPROTECT(1);
    return R_NilValue;
}
