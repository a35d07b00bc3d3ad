/* Errors, interrupts, progress, and objects of Rust that R owns. */
#include <math.h>
#include <signal.h>
#include <time.h>

#include "glue.h"

/* A part of a message. Strings of R can't contain zero characters, so the first one ends the
 * message. */
static SEXP text(ent_chars chars) {
    if (chars.len > 0 && memchr(chars.start, 0, chars.len) != NULL) chars.len = strlen(chars.start);
    return chars.len == 0 ? Rf_ScalarString(NA_STRING) : Rf_ScalarString(ent_char(chars));
}

static SEXP number(double value) { return Rf_ScalarReal(value < 0 ? NA_REAL : value); }

/* Converts a failure to a list of class `entasis_failure`, from which R code makes a condition, and
 * frees it. An interrupt becomes R's. */
SEXP ent_failed(ent_failure *failure) {
    static const char *names[] = {"kind", "message", "file", "section", "column", "block", "page", "offset", ""};
    ent_failure_fields fields = ent_failure_parts(failure);
    if (fields.kind.len == 11 && memcmp(fields.kind.start, "interrupted", 11) == 0) {
        ent_failure_free(failure);
        /* The check in Rust consumed the interrupt, so raise it again. */
        raise(SIGINT);
        R_CheckUserInterrupt();
        Rf_error("interrupted");
    }
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, text(fields.kind));
    SET_VECTOR_ELT(list, 1, text(fields.message));
    SET_VECTOR_ELT(list, 2, text(fields.file));
    SET_VECTOR_ELT(list, 3, text(fields.section));
    SET_VECTOR_ELT(list, 4, text(fields.column));
    SET_VECTOR_ELT(list, 5, number(fields.block));
    SET_VECTOR_ELT(list, 6, number(fields.page));
    SET_VECTOR_ELT(list, 7, number(fields.offset));
    Rf_setAttrib(list, R_ClassSymbol, Rf_mkString("entasis_failure"));
    ent_failure_free(failure);
    UNPROTECT(1);
    return list;
}

/* Calls an R function of the package that always raises an error. */
static void NORET raise_by(const char *function, SEXP argument) {
    PROTECT(argument);
    SEXP name = PROTECT(Rf_mkString("entasis"));
    SEXP home = PROTECT(R_FindNamespace(name));
    Rf_eval(PROTECT(Rf_lang2(Rf_install(function), argument)), home);
    Rf_error("a failure without an error");
}

/* Raises a failure as a condition. */
void ent_fail(ent_failure *failure) { raise_by("core", ent_failed(failure)); }

/* Reports that C code got no `len` bytes; `what` names their use, in the plural. */
void ent_no_memory(size_t len, const char *what) {
    char message[120];
    snprintf(message, sizeof message, "cannot allocate %.0f bytes for %s", (double)len, what);
    raise_by("exhausted", Rf_mkString(message));
}

/* Reports contents of the file that make no sense. */
void ent_nonsense(const char *message) { raise_by("nonsense", Rf_mkString(message)); }

/* Reports a value of a sound file that has no counterpart in R. */
void ent_no_counterpart(const char *what) { raise_by("no_counterpart", Rf_mkString(what)); }

/* Whether R is setting an attribute of a file. R raises an error if the attribute does not fit the
 * value. */
static int is_setting = 0;

/* Sets an attribute from a file. */
void ent_set_attribute(SEXP x, SEXP name, SEXP value) {
    is_setting = 1;
    Rf_setAttrib(x, name, value);
    is_setting = 0;
}

/* Sets a slot from a file. */
void ent_set_slot(SEXP x, SEXP name, SEXP value) {
    is_setting = 1;
    R_do_slot_assign(x, name, value);
    is_setting = 0;
}

/* Whether the last error came from setting an attribute. Resets the answer. */
SEXP ent_c_was_setting(void) {
    int was = is_setting;
    is_setting = 0;
    return Rf_ScalarLogical(was);
}

/* Seconds before long work shows its progress. */
#define PATIENCE 3

/* The characters of a whole bar. */
#define BAR 30

/* Long work shows a bar after some time: see ent_watch. */
static struct {
    double begun, after; /* seconds */
    int shown;           /* percent; -1 before the bar is shown */
    int is_in_steps;     /* whether R code does the work in steps: see ent_c_step */
    double from, to;     /* the part of the work that the step is */
} watched = {0, HUGE_VAL, -1, 0, 0, 1}; /* no bar outside of ent_watch and ent_watched */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int is_interactive(void) {
    static int known = -1;
    if (known < 0) {
        SEXP call = PROTECT(Rf_lang1(Rf_install("interactive")));
        known = Rf_asLogical(Rf_eval(call, R_BaseEnv)) == TRUE;
        UNPROTECT(1);
    }
    return known;
}

/* Begins long work. The option entasis.progress says whether a bar appears, or after how many
 * seconds. Without it, one appears in interactive sessions. */
void ent_watch(void) {
    if (watched.is_in_steps) return;
    SEXP option = Rf_GetOption1(Rf_install("entasis.progress"));
    int is_one = Rf_xlength(option) == 1;
    int is_shown = is_one && TYPEOF(option) == LGLSXP ? Rf_asLogical(option) == TRUE : is_interactive();
    watched.after = is_shown ? PATIENCE : R_PosInf;
    if (is_one && TYPEOF(option) == REALSXP) watched.after = REAL(option)[0];
    watched.shown = -1;
    watched.begun = now();
}

/* Ends long work, and removes the bar. */
void ent_watched(void) {
    if (watched.is_in_steps) return;
    if (watched.shown >= 0) REprintf("\r%*s\r", BAR + 20, "");
    watched.shown = -1;
    watched.after = R_PosInf;
}

static void look(void *parts) {
    const double *of = parts;
    if (of[1] > 0 && now() - watched.begun > watched.after) {
        double share = of[0] < of[1] ? of[0] / of[1] : 1;
        share = watched.from + share * (watched.to - watched.from);
        int percent = (int)(100 * share), n = (int)(BAR * share);
        if (percent != watched.shown) {
            REprintf("\rentasis: [%.*s%*s] %3d %%", n, "==============================", BAR - n, "", percent);
        }
        watched.shown = percent;
    }
    R_CheckUserInterrupt();
}

/* Rust calls this on R's thread. The jump of an interrupt ends in R_ToplevelExec. */
int ent_is_interrupted(double done, double total) {
    double parts[] = {done, total};
    return R_ToplevelExec(look, parts) == FALSE;
}

/* Begins a step of work in several calls, from one share of the work to another: the calls have one
 * bar. A share below 0 ends the work. */
SEXP ent_c_step(SEXP from, SEXP to) {
    int ends = Rf_asReal(from) < 0;
    if (!ends && !watched.is_in_steps) ent_watch();
    watched.is_in_steps = !ends;
    watched.from = ends ? 0 : Rf_asReal(from);
    watched.to = ends ? 1 : Rf_asReal(to);
    if (ends) {
        ent_watched();
    } else {
        double parts[] = {0, 1};
        look(parts);
    }
    return R_NilValue;
}

ent_chars ent_chars_of(SEXP string) {
    ent_chars chars = {CHAR(string), (size_t)LENGTH(string)};
    return chars;
}

SEXP ent_char(ent_chars chars) {
    if (chars.len > INT_MAX) Rf_error("a text is longer than R's strings can be");
    return Rf_mkCharLenCE(chars.len == 0 ? "" : chars.start, (int)chars.len, CE_UTF8);
}

/* An external pointer that owns an object and protects `keep`. */
SEXP ent_hold(void *object, R_CFinalizer_t finalizer, SEXP keep) {
    SEXP pointer = PROTECT(R_MakeExternalPtr(object, R_NilValue, keep));
    R_RegisterCFinalizerEx(pointer, finalizer, FALSE);
    UNPROTECT(1);
    return pointer;
}

void *ent_pointer_of(SEXP pointer, const char *what) {
    void *object = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
    if (object == NULL) Rf_error("%s belongs to another session", what);
    return object;
}

/* The item of a list with a name. */
SEXP ent_element(SEXP list, const char *name) {
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
    }
    Rf_error("a list without '%s'", name);
}
