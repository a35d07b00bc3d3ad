/* Shared by all C files. Only C calls R. No long jump of R crosses a frame of Rust, because C holds
 * the objects of Rust by external pointers, whose finalizers free them after a jump. */
#ifndef GLUE_H
#define GLUE_H

#include "calls.h"
#include "compat.h"
#include "entasis.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* guard.c */
SEXP ent_failed(ent_failure *failure);
void NORET ent_fail(ent_failure *failure);
void NORET ent_no_memory(size_t len, const char *what);
void NORET ent_nonsense(const char *message);
void NORET ent_no_counterpart(const char *what);
void ent_set_attribute(SEXP x, SEXP name, SEXP value);
void ent_set_slot(SEXP x, SEXP name, SEXP value);
void ent_watch(void);
void ent_watched(void);
int ent_is_interrupted(double done, double total);
ent_chars ent_chars_of(SEXP string);
SEXP ent_char(ent_chars chars);
SEXP ent_hold(void *object, R_CFinalizer_t finalizer, SEXP keep);
void *ent_pointer_of(SEXP pointer, const char *what);
SEXP ent_element(SEXP list, const char *name);

/* kinds.c */
SEXPTYPE ent_kind_type(int kind);
size_t ent_type_width(SEXPTYPE type);
size_t ent_kind_width(int kind);
void *ent_memory(SEXP x);
const void *ent_memory_read(SEXP x);

#endif
