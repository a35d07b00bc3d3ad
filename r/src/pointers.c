/* External pointers, whose address has no meaning in another session.
 *
 * The tag and the protected value of a pointer may be data: the sequences of Bioconductor are such
 * pointers. Other objects consist only of pointers to memory that R does not see, so their data
 * can't be stored.
 */
#include "walker.h"

/* Whether a pointer refers to values of R. A symbol as tag only names the kind of pointer, but is
 * stored too. */
int ent_has_data(SEXP x) {
    return TYPEOF(x) == EXTPTRSXP && (R_ExternalPtrTag(x) != R_NilValue || R_ExternalPtrProtected(x) != R_NilValue);
}

/* Whether a value is a pointer to memory, without references to values of R. */
static int is_memory(SEXP x) {
    if (TYPEOF(x) != EXTPTRSXP || R_ExternalPtrAddr(x) == NULL || R_ExternalPtrProtected(x) != R_NilValue) return 0;
    return R_ExternalPtrTag(x) == R_NilValue || TYPEOF(R_ExternalPtrTag(x)) == SYMSXP;
}

/* Whether a value is an object of S4 with an environment. R code decides whether it is one of C++.
 */
static int is_reference(SEXP x) {
    return TYPEOF(x) == S4SXP && TYPEOF(Rf_getAttrib(x, Rf_install(".xData"))) == ENVSXP;
}

/* Whether an object may consist only of pointers to memory. */
int ent_is_shell(SEXP x) {
    if (!Rf_isObject(x)) return 0;
    R_xlen_t n = TYPEOF(x) == VECSXP ? Rf_xlength(x) : 0;
    for (R_xlen_t i = 0; i < n; i++) {
        if (!is_memory(VECTOR_ELT(x, i))) return 0;
    }
    if (n > 0) return 1;
    if (is_reference(x)) return 1;
    const void *top = vmaxget();
    ent_attributes attributes;
    ent_collect_attributes(x, &attributes);
    size_t pointers = 0, others = 0;
    for (size_t i = 0; i < attributes.n; i++) {
        SEXP value = attributes.all[i].value;
        if (attributes.all[i].name == R_ClassSymbol) continue;
        if (is_memory(value) || is_reference(value)) pointers++;
        else others++;
    }
    vmaxset(top);
    /* A list without items keeps its data elsewhere, whatever attributes it has. */
    return pointers > 0 && (others == 0 || TYPEOF(x) == VECSXP);
}
