/* The R 4.6 interface of "Writing R Extensions", for R 4.2 and later.
 *
 * All other files use only names of R 4.6. For older R, this header defines missing names with
 * entry points that R 4.5 and 4.6 hid or removed. tools/check-r-api.sh rejects such entry points in
 * other files.
 */
#ifndef COMPAT_H
#define COMPAT_H

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <R.h>
#include <Rinternals.h>
#include <Rversion.h>

#if R_VERSION < R_Version(4, 5, 0)

/* Whether a value has attributes. */
static inline int ANY_ATTRIB(SEXP x) { return ATTRIB(x) != R_NilValue; }

/* The value of a variable, or `otherwise` if there is none. Forces a promise. */
static inline SEXP R_getVarEx(SEXP symbol, SEXP env, Rboolean inherits, SEXP otherwise) {
    SEXP found = inherits ? Rf_findVar(symbol, env) : Rf_findVarInFrame3(env, symbol, TRUE);
    if (found == R_UnboundValue) return otherwise;
    return TYPEOF(found) == PROMSXP ? Rf_eval(found, env) : found;
}

#endif

#if R_VERSION < R_Version(4, 6, 0)

/* Calls `use` for each attribute, in order, until it returns something other than NULL, and returns
 * that. `use` must not change the attributes of `x`. */
static inline SEXP R_mapAttrib(SEXP x, SEXP (*use)(SEXP name, SEXP value, void *data), void *data) {
    SEXP found = NULL;
    for (SEXP node = ATTRIB(x); node != R_NilValue && found == NULL; node = CDR(node)) {
        found = use(TAG(node), CAR(node), data);
    }
    return found;
}

typedef enum {
    R_BindingTypeUnbound,
    R_BindingTypeValue,
    R_BindingTypeMissing,
    R_BindingTypeDelayed, /* a promise that was not forced */
    R_BindingTypeForced,  /* a promise that has its value */
    R_BindingTypeActive
} R_BindingType_t;

typedef enum { R_DotTypeValue, R_DotTypeMissing, R_DotTypeDelayed, R_DotTypeForced } R_DotType_t;

/* If a promise's expression is another promise, the inner one's state counts. */
static inline SEXP ent_root_promise(SEXP promise) {
    while (PRVALUE(promise) == R_UnboundValue && TYPEOF(R_PromiseExpr(promise)) == PROMSXP) {
        promise = R_PromiseExpr(promise);
    }
    return promise;
}

static inline int ent_is_forced(SEXP promise) { return PRVALUE(ent_root_promise(promise)) != R_UnboundValue; }

/* The content of a variable, without forcing it. Runs the function of an active binding. */
static inline SEXP ent_unforced(SEXP symbol, SEXP env) { return Rf_findVarInFrame3(env, symbol, TRUE); }

static inline R_BindingType_t R_GetBindingType(SEXP symbol, SEXP env) {
    if (!R_existsVarInFrame(env, symbol)) return R_BindingTypeUnbound;
    if (R_BindingIsActive(symbol, env)) return R_BindingTypeActive;
    SEXP found = ent_unforced(symbol, env);
    if (found == R_MissingArg) return R_BindingTypeMissing;
    if (TYPEOF(found) != PROMSXP) return R_BindingTypeValue;
    return ent_is_forced(found) ? R_BindingTypeForced : R_BindingTypeDelayed;
}

/* These two are for delayed bindings alone. */
static inline SEXP R_DelayedBindingExpression(SEXP symbol, SEXP env) {
    return R_PromiseExpr(ent_root_promise(ent_unforced(symbol, env)));
}

static inline SEXP R_DelayedBindingEnvironment(SEXP symbol, SEXP env) {
    return PRENV(ent_root_promise(ent_unforced(symbol, env)));
}

/* Whether an environment itself has arguments in its `...`, as the functions below require. */
static inline Rboolean R_DotsExist(SEXP env) { return TYPEOF(ent_unforced(R_DotsSymbol, env)) == DOTSXP; }

static inline int R_DotsLength(SEXP env) { return (int)Rf_length(ent_unforced(R_DotsSymbol, env)); }

/* The names of the arguments, "" for an unnamed one; NULL if all are unnamed. */
static inline SEXP R_DotsNames(SEXP env) {
    SEXP names = R_NilValue;
    R_xlen_t i = 0, n = R_DotsLength(env);
    for (SEXP node = ent_unforced(R_DotsSymbol, env); i < n; node = CDR(node), i++) {
        if (TAG(node) == R_NilValue) continue;
        if (names == R_NilValue) names = PROTECT(Rf_allocVector(STRSXP, n));
        SET_STRING_ELT(names, i, PRINTNAME(TAG(node)));
    }
    if (names != R_NilValue) UNPROTECT(1);
    return names;
}

/* An unevaluated argument, by its number from 1 on. */
static inline SEXP ent_unforced_dot(int i, SEXP env) {
    SEXP node = ent_unforced(R_DotsSymbol, env);
    while (--i > 0) node = CDR(node);
    return CAR(node);
}

static inline R_DotType_t R_GetDotType(int i, SEXP env) {
    SEXP found = ent_unforced_dot(i, env);
    if (found == R_MissingArg) return R_DotTypeMissing;
    if (TYPEOF(found) != PROMSXP) return R_DotTypeValue;
    return ent_is_forced(found) ? R_DotTypeForced : R_DotTypeDelayed;
}

/* The value of an argument. Forces a promise. */
static inline SEXP R_DotsElt(int i, SEXP env) {
    SEXP found = ent_unforced_dot(i, env);
    return TYPEOF(found) == PROMSXP ? Rf_eval(found, env) : found;
}

/* These two are for delayed arguments alone. */
static inline SEXP R_DotDelayedExpression(int i, SEXP env) {
    return R_PromiseExpr(ent_root_promise(ent_unforced_dot(i, env)));
}

static inline SEXP R_DotDelayedEnvironment(int i, SEXP env) {
    return PRENV(ent_root_promise(ent_unforced_dot(i, env)));
}

#endif

/* Asks the processor to fetch the attributes of a value soon. R 4.6 does not expose their
 * address. */
static inline void ent_prefetch_attributes(SEXP x) {
#if R_VERSION < R_Version(4, 6, 0) && defined(__GNUC__)
    __builtin_prefetch(ATTRIB(x));
#else
    (void)x;
#endif
}

#endif
