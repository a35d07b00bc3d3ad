/* Files of R as files of Entasis. */
#include "values.h"

SEXP ent_c_convert(SEXP source, SEXP path, SEXP functions, SEXP options) {
    ent_failure *failure = NULL;
    ent_watch();
    ent_convert(ent_chars_of(STRING_ELT(source, 0)), ent_chars_of(STRING_ELT(path, 0)), Rf_asLogical(functions),
                ent_options_of(options), ent_is_interrupted, &failure);
    ent_watched();
    return failure == NULL ? R_NilValue : ent_failed(failure);
}
