/* The entry points of R that r/src uses, as the manual describes them, and no others. */
#ifndef R_API_RINTERNALS_H
#define R_API_RINTERNALS_H

#include <limits.h>
#include <stddef.h>

typedef struct SEXPREC *SEXP;
typedef ptrdiff_t R_xlen_t;
typedef unsigned int SEXPTYPE;
typedef enum { FALSE, TRUE } Rboolean;
typedef enum { CE_NATIVE = 0, CE_UTF8 = 1, CE_LATIN1 = 2, CE_BYTES = 3 } cetype_t;
typedef struct {
    double r, i;
} Rcomplex;
typedef unsigned char Rbyte;
typedef int PROTECT_INDEX;
typedef struct DllInfo_ DllInfo;
typedef void (*R_CFinalizer_t)(SEXP);

#define R_XLEN_T_MAX 4503599627370496
#define NORET __attribute__((noreturn))

/* Types of values. R's own numbers. */
enum {
    NILSXP = 0, SYMSXP = 1, LISTSXP = 2, CLOSXP = 3, ENVSXP = 4, PROMSXP = 5, LANGSXP = 6, SPECIALSXP = 7, BUILTINSXP = 8,
    CHARSXP = 9, LGLSXP = 10, INTSXP = 13, REALSXP = 14, CPLXSXP = 15, STRSXP = 16, DOTSXP = 17, VECSXP = 19, EXPRSXP = 20,
    EXTPTRSXP = 22, WEAKREFSXP = 23, RAWSXP = 24, S4SXP = 25
};

/* Values that R has once. */
extern SEXP R_NilValue, R_MissingArg, R_GlobalEnv, R_BaseEnv, R_EmptyEnv;
extern SEXP R_NaString, R_BlankString;
extern SEXP R_ClassSymbol, R_DimSymbol, R_DotsSymbol, R_NamesSymbol, R_RowNamesSymbol;
extern int R_NaInt;
extern double R_NaReal, R_PosInf;
#define NA_STRING R_NaString
#define NA_LOGICAL R_NaInt
#define NA_INTEGER R_NaInt
#define NA_REAL R_NaReal

/* Memory. */
SEXP Rf_protect(SEXP x);
void Rf_unprotect(int n);
void R_ProtectWithIndex(SEXP x, PROTECT_INDEX *index);
void R_Reprotect(SEXP x, PROTECT_INDEX index);
#define PROTECT(x) Rf_protect(x)
#define UNPROTECT(n) Rf_unprotect(n)
#define PROTECT_WITH_INDEX(x, i) R_ProtectWithIndex(x, i)
#define REPROTECT(x, i) R_Reprotect(x, i)
char *R_alloc(size_t n, int width);
void *vmaxget(void);
void vmaxset(const void *top);
int MAYBE_SHARED(SEXP x);

/* Vectors. */
int TYPEOF(SEXP x);
int LENGTH(SEXP x);
R_xlen_t Rf_xlength(SEXP x);
R_xlen_t Rf_length(SEXP x);
int *LOGICAL(SEXP x);
int *INTEGER(SEXP x);
double *REAL(SEXP x);
Rcomplex *COMPLEX(SEXP x);
Rbyte *RAW(SEXP x);
const void *DATAPTR_RO(SEXP x);
const SEXP *STRING_PTR_RO(SEXP x);
int LOGICAL_ELT(SEXP x, R_xlen_t i);
int INTEGER_ELT(SEXP x, R_xlen_t i);
double REAL_ELT(SEXP x, R_xlen_t i);
SEXP STRING_ELT(SEXP x, R_xlen_t i);
SEXP VECTOR_ELT(SEXP x, R_xlen_t i);
void SET_STRING_ELT(SEXP x, R_xlen_t i, SEXP value);
SEXP SET_VECTOR_ELT(SEXP x, R_xlen_t i, SEXP value);
SEXP Rf_allocVector(SEXPTYPE type, R_xlen_t n);
SEXP Rf_lengthgets(SEXP x, R_xlen_t n);
SEXP Rf_xlengthgets(SEXP x, R_xlen_t n);
SEXP Rf_shallow_duplicate(SEXP x);
SEXP Rf_mkNamed(SEXPTYPE type, const char **names);
SEXP Rf_ScalarInteger(int value);
SEXP Rf_ScalarLogical(int value);
SEXP Rf_ScalarReal(double value);
SEXP Rf_ScalarString(SEXP value);
int Rf_asInteger(SEXP x);
int Rf_asLogical(SEXP x);
double Rf_asReal(SEXP x);
SEXP Rf_asChar(SEXP x);
Rboolean Rf_isVector(SEXP x);
Rboolean Rf_isVectorAtomic(SEXP x);
const char *Rf_type2char(SEXPTYPE type);
int ALTREP(SEXP x);

/* Strings and symbols. */
const char *CHAR(SEXP x);
cetype_t Rf_getCharCE(SEXP x);
SEXP Rf_mkChar(const char *text);
SEXP Rf_mkCharLenCE(const char *text, int len, cetype_t encoding);
SEXP Rf_mkString(const char *text);
SEXP Rf_install(const char *name);
SEXP Rf_installTrChar(SEXP name);
SEXP PRINTNAME(SEXP symbol);

/* Attributes and classes. */
int ANY_ATTRIB(SEXP x);
SEXP Rf_getAttrib(SEXP x, SEXP name);
SEXP Rf_setAttrib(SEXP x, SEXP name, SEXP value);
SEXP Rf_classgets(SEXP x, SEXP value);
void Rf_copyMostAttrib(SEXP from, SEXP to);
void SHALLOW_DUPLICATE_ATTRIB(SEXP to, SEXP from);
Rboolean Rf_inherits(SEXP x, const char *class);
Rboolean Rf_isObject(SEXP x);
Rboolean Rf_isS4(SEXP x);
SEXP Rf_asS4(SEXP x, Rboolean flag, int complete);
SEXP Rf_allocS4Object(void);
SEXP R_do_slot_assign(SEXP x, SEXP name, SEXP value);

/* Pairlists and calls. */
SEXP CAR(SEXP x);
SEXP CDR(SEXP x);
SEXP TAG(SEXP x);
SEXP SETCAR(SEXP x, SEXP value);
void SET_TAG(SEXP x, SEXP value);
SEXP Rf_allocList(int n);
SEXP Rf_cons(SEXP car, SEXP cdr);
SEXP Rf_lcons(SEXP car, SEXP cdr);
SEXP Rf_lang1(SEXP function);
SEXP Rf_lang2(SEXP function, SEXP a);
SEXP Rf_lang3(SEXP function, SEXP a, SEXP b);
SEXP Rf_list2(SEXP a, SEXP b);
SEXP Rf_list3(SEXP a, SEXP b, SEXP c);

/* Evaluation, errors, interrupts. */
SEXP Rf_eval(SEXP expression, SEXP env);
SEXP R_tryEvalSilent(SEXP expression, SEXP env, int *is_error);
NORET void Rf_error(const char *format, ...);
void Rf_warning(const char *format, ...);
void R_CheckUserInterrupt(void);
Rboolean R_ToplevelExec(void (*function)(void *), void *data);
SEXP Rf_GetOption1(SEXP name);
void Rprintf(const char *format, ...);
void REprintf(const char *format, ...);

/* Environments. */
SEXP R_NewEnv(SEXP enclosing, int is_hashed, int size);
SEXP R_FindNamespace(SEXP name);
Rboolean R_existsVarInFrame(SEXP env, SEXP symbol);
void Rf_defineVar(SEXP symbol, SEXP value, SEXP env);
SEXP R_getVarEx(SEXP symbol, SEXP env, Rboolean inherits, SEXP otherwise);
Rboolean R_BindingIsActive(SEXP symbol, SEXP env);
Rboolean R_BindingIsLocked(SEXP symbol, SEXP env);

/* Pointers. */
SEXP R_MakeExternalPtr(void *address, SEXP tag, SEXP protected);
void *R_ExternalPtrAddr(SEXP pointer);
SEXP R_ExternalPtrTag(SEXP pointer);
SEXP R_ExternalPtrProtected(SEXP pointer);
void R_ClearExternalPtr(SEXP pointer);
void R_SetExternalPtrTag(SEXP pointer, SEXP tag);
void R_SetExternalPtrProtected(SEXP pointer, SEXP protected);
void R_PreserveObject(SEXP x);
void R_ReleaseObject(SEXP x);
void R_RegisterCFinalizerEx(SEXP pointer, R_CFinalizer_t finalizer, Rboolean on_exit);
SEXP R_MakeWeakRef(SEXP key, SEXP value, SEXP finalizer, Rboolean on_exit);

#if R_API_MINOR >= 6

SEXP R_mapAttrib(SEXP x, SEXP (*function)(SEXP, SEXP, void *), void *data);

typedef enum {
    R_BindingTypeUnbound, R_BindingTypeValue, R_BindingTypeMissing, R_BindingTypeDelayed, R_BindingTypeForced, R_BindingTypeActive
} R_BindingType_t;
typedef enum { R_DotTypeValue, R_DotTypeMissing, R_DotTypeDelayed, R_DotTypeForced } R_DotType_t;

R_BindingType_t R_GetBindingType(SEXP symbol, SEXP env);
SEXP R_DelayedBindingExpression(SEXP symbol, SEXP env);
SEXP R_DelayedBindingEnvironment(SEXP symbol, SEXP env);
Rboolean R_DotsExist(SEXP env);
int R_DotsLength(SEXP env);
SEXP R_DotsNames(SEXP env);
R_DotType_t R_GetDotType(int i, SEXP env);
SEXP R_DotsElt(int i, SEXP env);
SEXP R_DotDelayedExpression(int i, SEXP env);
SEXP R_DotDelayedEnvironment(int i, SEXP env);

#else

/* Entry points of R 4.5 that compat.h alone may use. */
extern SEXP R_UnboundValue;
SEXP ATTRIB(SEXP x);
SEXP PRVALUE(SEXP promise);
SEXP PRENV(SEXP promise);
SEXP R_PromiseExpr(SEXP promise);
SEXP Rf_findVarInFrame3(SEXP env, SEXP symbol, Rboolean get);

#endif

#endif
