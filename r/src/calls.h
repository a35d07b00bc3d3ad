/* The functions that R code calls, with their numbers of arguments. Declarations and the
 * registration table are made from this list. */
#ifndef CALLS_H
#define CALLS_H

#include "compat.h"

/* clang-format off */
#define ENT_CALLS(E) \
    /* guard.c */ E(was_setting, 0) E(step, 2) \
    /* buffers.c */ E(threads, 1) E(compress, 3) E(decompress, 2) E(hash, 2) \
    /* read.c */ E(open, 3) E(open_fst, 5) E(table, 2) E(at_generation, 2) E(shut, 1) E(is_open, 1) E(facts, 1) E(host, 1) E(describe, 2) \
    /* source.c */ E(open_source, 6) \
    /* read.c */ E(read, 3) E(verify, 3) E(repair, 4) E(lost, 1) \
    /* folder.c */ E(folder, 2) E(folder_state, 2) E(folder_names, 2) E(folder_commit, 2) \
    /* column_groups.c */ E(groups, 2) E(distinct, 1) \
    /* attribute_nodes_write.c */ E(describe_groups, 4) \
    /* locale.c */ E(note_locale, 1) \
    /* write.c */ E(na_kind, 1) E(exact_unit, 3) E(frame, 4) E(write, 7) \
    /* change.c */ E(change, 2) E(change_end, 1) E(append, 3) E(change_columns, 7) E(change_metadata, 4) E(rollback, 3) E(keep, 4) E(compact, 3) \
    /* change.c */ E(stream, 2) E(stream_extend, 2) E(stream_check, 1) E(stream_view, 1) E(stream_finish, 1) \
    /* secrets.c */ E(secret_key, 1) E(secret_file, 1) E(secret_password, 1) E(secret_bytes, 1) E(use_secret, 1) E(secret_in_force, 0) \
    /* secrets.c */ E(unlock, 1) E(encrypt, 4) E(add_key, 3) E(remove_key, 3) E(keys, 1) \
    /* convert.c */ E(convert, 4) \
    /* generations.c */ E(generations, 1) E(is_worth_compacting, 1) \
    /* csv.c */ E(csv_read, 5) E(csv_fill, 3) E(csv_write, 6) \
    /* csv.c */ E(csv_open, 4) E(csv_next, 2) E(csv_met, 1) E(csv_store, 3) E(csv_write_batches, 3) E(csv_close, 1) \
    /* filter.c */ E(find_rows, 2) E(count_rows, 2) E(plan_rows, 2) \
    /* walker.c, walk.c */ E(walker, 1) E(walk, 2) E(walk_steps, 1) E(references, 2) \
    /* promise.c */ E(bindings, 2) E(dots, 3) \
    /* cell_session.c, make_values.c, make_objects.c */ E(load, 2) E(close, 3) E(pools, 2) E(unload, 1) E(look, 2) E(make, 3) E(split, 3) \
    /* integers.c */ E(integer_fits, 2) E(beyond_integer64, 2) E(has_made_integer64, 1) \
    /* objects.c, altstring.c */ E(lazy, 2) E(decorate, 3) E(decorate_all, 4) E(lengths, 1) E(pointer, 1) E(materialised, 1)
/* clang-format on */

#define ENT_0 void
#define ENT_1 SEXP
#define ENT_2 SEXP, SEXP
#define ENT_3 SEXP, SEXP, SEXP
#define ENT_4 SEXP, SEXP, SEXP, SEXP
#define ENT_5 SEXP, SEXP, SEXP, SEXP, SEXP
#define ENT_6 SEXP, SEXP, SEXP, SEXP, SEXP, SEXP
#define ENT_7 SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP
#define ENT_DECLARE(name, n) SEXP ent_c_##name(ENT_##n);

ENT_CALLS(ENT_DECLARE)

#endif
