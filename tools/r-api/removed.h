/* Entry points of R that only r/src/compat.h may name, and only for older R. R 4.5 or 4.6 removed
 * or hid them, or `R CMD check` warns about them. The lists come from the sections on the C level
 * in the NEWS of both versions. Include this after R's own headers.
 */

/* R 4.6 hides these. */
#pragma GCC poison ENCLOS ENVFLAGS EXTPTR_PROT EXTPTR_PTR EXTPTR_TAG FRAME HASHTAB IS_S4_OBJECT LEVELS NAMED OBJECT
#pragma GCC poison R_shallow_duplicate_attr Rf_NonNullStringMatch Rf_isValidString Rf_isValidStringF Rf_lazy_duplicate
#pragma GCC poison SETLENGTH SETLEVELS SET_BODY SET_CLOENV SET_ENCLOS SET_ENVFLAGS SET_FORMALS SET_FRAME
#pragma GCC poison SET_GROWABLE_BIT SET_HASHTAB SET_NAMED SET_S4_OBJECT SET_TRUELENGTH STDVEC_DATAPTR TRUELENGTH
#pragma GCC poison UNSET_S4_OBJECT XTRUELENGTH

/* R 4.6 removed these, or no longer declares them. */
#pragma GCC poison COMPLEX0 DATAPTR INTEGER0 LOGICAL0 RAW0 REAL0 Rf_isFrame VECTOR_PTR

/* R CMD check of R 4.6 warns of these. */
#pragma GCC poison ATTRIB BODY CLOENV FORMALS PRCODE PRENV PRVALUE R_PromiseExpr R_data_class R_duplicate_attr
#pragma GCC poison R_lsInternal R_nchar R_tryWrap Rf_GetOption Rf_acopy_string Rf_allocSExp Rf_findVarInFrame3
#pragma GCC poison SET_ATTRIB SET_OBJECT SET_PRCODE SET_PRENV SET_PRVALUE SET_TYPEOF STRING_PTR getConnection

/* R CMD check of R 4.5 or 4.6 reports these names. In older versions, two are macros. */
#undef BODY_EXPR
#undef PREXPR
#pragma GCC poison ALTREP_CLASS BODY_EXPR DDVAL ENSURE_NAMEDMAX INTERNAL IS_ASCII IS_BYTES IS_GROWABLE IS_LATIN1
#pragma GCC poison IS_LONG_VEC IS_UTF8 MISSING PREXPR PRSEEN RDEBUG R_NamespaceRegistry R_UnboundValue R_curErrorBuf
#pragma GCC poison R_mkEVPROMISE R_mkEVPROMISE_NR Rf_NewEnvironment Rf_StringBlank Rf_envlength Rf_findVar
#pragma GCC poison Rf_findVarInFrame Rf_gsetVar Rf_mkPROMISE SET_MISSING SET_PRSEEN SET_RDEBUG SYMVALUE XLENGTH_EX
