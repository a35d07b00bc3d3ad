# Random selections, conditions, verbs of dplyr, calls of data.table and appends on open tables give
# what they give in memory.

one_of <- function(parts) as.list(parts)[[sample(length(parts), 1L)]]
some_of <- function(parts, most = 3L) as.list(parts)[sample(length(parts), sample(min(most, length(parts)), 1L))]

# A frame with columns that conditions use, and some of other types.
plain_columns <- function(n) {
  pick <- function(values) sample(values, n, TRUE)
  data.frame(
    id = seq_len(n), i = pick(c(-2:3, NA)), x = pick(c(-0.0, 0, 1.5, NA, NaN, Inf)),
    s = pick(c("a", "ab", "", "\u00fc", NA)),
    f = factor(pick(c("u", "v", NA)), levels = c("v", "u", "none")), l = pick(c(TRUE, FALSE, NA)),
    d = as.Date("2020-01-01") + pick(c(0:3, NA)),
    t = as.POSIXct("2020-01-01", tz = "UTC") + pick(c(0, 0.5, 86400, NA)), stringsAsFactors = FALSE
  )
}

random_frame <- function(n, kind) {
  frame <- plain_columns(n)
  frame$g <- sample(c(3, 1, 2), n, TRUE)
  frame$di <- structure(sample(c(18000:18003, NA), n, TRUE), class = "Date")
  frame$label <- structure(sample(c(1, NA), n, TRUE), label = "a label")
  frame$list <- lapply(seq_len(n), function(k) if (k %% 3L == 0L) NULL else seq_len(k %% 4L))
  frame <- frame[c(1:8, sample(9:12, sample(0:4, 1L)))]
  as_kind(frame, kind)
}

as_kind <- function(frame, kind) {
  n <- nrow(frame)
  switch(kind,
    frame = frame, named = `attr<-`(frame, "row.names", if (n > 0L) sprintf("row %d", sample(n)) else character()),
    tibble = tibble_of(frame), table = data.table::setDT(frame),
    keyed = data.table::setDT(frame[order(frame$i, na.last = FALSE), ], key = "i"),
    grouped = dplyr::group_by(tibble_of(frame), s), dropless = dplyr::group_by(tibble_of(frame), f, l, .drop = FALSE),
    preserved = dplyr::filter(dplyr::group_by(tibble_of(frame), i), x > 0, .preserve = TRUE)
  )
}

KINDS <- c("frame", "named", if (requireNamespace("tibble", quietly = TRUE)) "tibble",
           if (requireNamespace("data.table", quietly = TRUE)) c("table", "keyed"),
           if (requireNamespace("dplyr", quietly = TRUE)) c("grouped", "dropless", "preserved"))

# The value of a call, without what reading leaves out, or that it is an error.
outcome <- function(call, x, env = table_caller) {
  set.seed(1)
  value <- tryCatch(
    suppressWarnings(suppressMessages(eval(call, list(z = x), env))),
    error = function(e) structure("error", said = conditionMessage(e))
  )
  if (inherits(value, "entasis_table")) value <- value[]
  if (is.data.frame(value) && inherits(value, "data.table")) {
    data.table::setattr(value, ".internal.selfref", NULL)
    data.table::setattr(value, "index", NULL)
  }
  if (is.data.frame(value) && is.integer(attr(value, "row.names"))) {
    attr(value, "row.names") <- .set_row_names(nrow(value))
  }
  value
}

expect_outcome <- function(env, table, frame, call, about) {
  # The call is random, and its evaluation starts anew.
  force(call)
  eval_in <- function(x) outcome(call, x, env)
  expected <- eval_in(if (inherits(frame, "data.table")) data.table::copy(frame) else frame)
  found <- eval_in(table)
  is_error <- function(value) identical(as.vector(value), "error")
  if (if (is_error(expected)) is_error(found) else identical(found, expected)) {
    return(succeed())
  }
  fail(paste0(about, ": ", paste(deparse(call), collapse = " "), "\n", paste(utils::head(all.equal(found, expected), 4L), collapse = "; "),
              if (is_error(found)) attr(found, "said")))
}

CONDITIONS_ON_ROWS <- expression(
  i == 2, i > 0, i %in% c(1, NA), x > 0, x == 1.5, is.na(x), is.na(s), !is.na(f), l, !l, s == "a", s != "ab",
  startsWith(s, "a"), nchar(s) == 1,
  f == "u", f %in% c("v", "none"), d >= as.Date("2020-01-02"), d == "2020-01-03",
  t > as.POSIXct("2020-01-01", tz = "UTC"), id < 9, id %% 3 == 0,
  x > i, id > mean(id), x > limit, s %in% words, x == x, (i > 0), TRUE, x <= 0
)

random_condition <- function(depth = 2L) {
  if (depth == 0L || runif(1) < 0.4) {
    return(one_of(CONDITIONS_ON_ROWS))
  }
  switch(sample(3L, 1L), call("&", random_condition(depth - 1L), random_condition(depth - 1L)),
         call("|", random_condition(depth - 1L), random_condition(depth - 1L)), call("!", call("(", random_condition(depth - 1L))))
}

MASKS <- expression(z$x > 0, z$i == 2 & z$l, is.na(z$s), z[["x"]] > 0 | z$i > 1, !z$l, z$s %in% c("a", NA), z$d >= as.Date("2020-01-02"), z$f == "u" & z$id < 9,
                    z$x == 1.5 & !is.na(z$i), with(z, x > i), startsWith(z$s, "a"))

# Values as `i` and `j` of `[`. Rows that repeat have row names in memory, where a file numbers rows
# anew, so only tables without row names repeat them.
random_rows <- function(n, is_tibble, is_numbered) {
  if (n == 0L) {
    return(one_of(list(TRUE, NA, 0, integer(), FALSE)))
  }
  switch(sample(9L, 1L),
    sample(n, sample(n, 1L)),
    if (is_numbered) sample(c(NA, seq_len(n)), n, TRUE) else sample(c(NA, seq_len(n))),
    -sample(n, sample(n, 1L)), sample(c(TRUE, FALSE), n, TRUE),
    sample(c(TRUE, FALSE, NA), n, TRUE), TRUE, 0, seq_len(n), if (is_tibble) integer() else sort(sample(n, sample(n, 1L))) + 0.5)
}

random_columns <- function(names) {
  k <- length(names)
  switch(sample(8L, 1L), sample(names, sample(k, 1L)), sample(k, sample(k, 1L)), -sample(k, sample(k, 1L)), sample(c(TRUE, FALSE), k, TRUE),
         c(TRUE, FALSE)[seq_len(sample(2L, 1L))], 0, NULL, seq_len(k))
}

random_selection <- function(frame) {
  i <- random_rows(nrow(frame), inherits(frame, "tbl_df"), inherits(frame, c("tbl_df", "data.table")))
  j <- random_columns(names(frame))
  name <- sample(names(frame), 1L)
  is_table <- inherits(frame, "data.table")
  switch(sample(11L, 1L),
    bquote(z[.(one_of(MASKS)), , drop = FALSE]),
    if (is_table) bquote(z[, .(j), with = FALSE]) else bquote(z[.(j)]),
    if (is_table) bquote(z[.(i)]) else bquote(z[.(i), ]),
    if (is_table) bquote(z[.(i), .(j), with = FALSE]) else bquote(z[.(i), .(j), drop = FALSE]), bquote(z[[.(name)]]),
    bquote(z[[.(sample(ncol(frame), 1L))]]), call("$", quote(z), as.name(name)), bquote(head(z, .(sample(-3:9, 1L)))),
    bquote(tail(z, .(sample(0:9, 1L)))), bquote(subset(z, .(random_condition()))), bquote(subset(z, .(random_condition()), .(sample(names(frame), 2L)))))
}

VERBS <- list(
  function(e) as.call(c(list(quote(dplyr::filter), e), replicate(sample(2L, 1L), random_condition(1L)))),
  function(e) bquote(dplyr::filter(.(e), .(random_condition()), .preserve = TRUE)),
  function(e) as.call(
    c(
      list(quote(dplyr::select), e),
      some_of(expression(id, i, x, s, k = f, -l, starts_with("d"), where(is.numeric), everything()))
    )
  ),
  function(e) as.call(
    c(
      list(quote(dplyr::rename), e),
      one_of(list(list(k = quote(x)), list(s = quote(id), id = quote(s)), list(k2 = quote(i))))
    )
  ),
  function(e) as.call(
    c(
      list(quote(dplyr::mutate), e),
      one_of(list(list(z = quote(x * 2)), list(n = quote(dplyr::n())), list(s = NULL), list(i = quote(rev(i)))))
    )
  ),
  function(e) as.call(c(list(quote(dplyr::arrange), e), some_of(expression(i, desc(x), s, desc(id), f, l)))),
  function(e) as.call(c(list(quote(dplyr::slice), e), one_of(expression(1:3, 3:1, -1, c(2, 2), n(), which(l), 0)))),
  function(e) bquote(dplyr::slice_head(.(e), n = .(sample(0:4, 1L)))),
  function(e) bquote(dplyr::slice_tail(.(e), prop = 0.3)),
  function(e) bquote(dplyr::slice_max(.(e), x, n = 2)), function(e) bquote(dplyr::slice_sample(.(e), n = 3)),
  function(e) as.call(c(list(quote(dplyr::group_by), e), some_of(expression(i, s, f, l), 2L))),
  function(e) bquote(dplyr::group_by(.(e), f, .drop = FALSE)), function(e) bquote(dplyr::ungroup(.(e))),
  function(e) as.call(
    c(
      list(quote(dplyr::summarise), e),
      some_of(expression(n = n(), m = mean(x, na.rm = TRUE), first = s[1], hi = max(id), sum(i, na.rm = TRUE)))
    )
  ),
  function(e) as.call(c(list(quote(dplyr::count), e), some_of(expression(i, s, f, x > 0), 2L))),
  function(e) bquote(dplyr::tally(.(e))),
  function(e) bquote(dplyr::distinct(.(e), i, f)), function(e) bquote(dplyr::distinct(.(e), s, .keep_all = TRUE)),
  function(e) bquote(dplyr::add_count(.(e), i)), function(e) bquote(dplyr::relocate(.(e), s, .after = x)),
  function(e) bquote(dplyr::pull(.(e), i)),
  function(e) bquote(dplyr::left_join(.(e), other, by = "i")),
  function(e) bquote(dplyr::semi_join(.(e), other, by = "i")),
  function(e) bquote(dplyr::nest_join(.(e), other, by = "i")),
  function(e) bquote(dplyr::transmute(.(e), id, x > 0)), function(e) bquote(head(.(e), 3)),
  function(e) bquote(dplyr::group_keys(.(e))), function(e) bquote(dplyr::n_groups(.(e))),
  function(e) bquote(.(e)[["i"]]), function(e) bquote(dim(.(e))),
  function(e) bquote(subset(.(e), .(random_condition(1L)))),
  function(e) bquote(dplyr::rows_update(.(e), change, by = "id"))
)

random_pipeline <- function() {
  e <- quote(z)
  for (k in seq_len(sample(4L, 1L))) e <- one_of(VERBS)(e)
  e
}

FORMS <- list(
  j = expression(.N, x, .(id, s), .(m = mean(x, na.rm = TRUE)), .SD, lapply(.SD, class), "x", c("id", "s"), -1, .(.N, first = id[1]), s, sum(i, na.rm = TRUE),
                 .(k = x * 2), unique(s), id:x, !"x", list(i), .I, head(.SD, 2), .(id, f)[1], table(f)),
  by = expression(s, .(i), "f", c("s", "l"), .(k = i > 0), "s,f"),
  i = expression(
    1:3, c(3, 1), -1, .N, order(i, -id), order(s), !l, "a", .(1L), .(c(2L, 1L)), other, !other, NA, 0,
    which(x > 0), id[2:3], c(2, 2)
  )
)

random_brackets <- function() {
  is_condition <- runif(1) < 0.5
  i <- if (is_condition) random_condition() else one_of(FORMS$i)
  parts <- list(quote(`[`), quote(z), if (runif(1) < 0.8) i else quote(expr = ))
  if (runif(1) < 0.7) parts <- c(parts, list(one_of(FORMS$j)))
  # data.table 1.14 reads beyond the end if it groups rows of NA.
  if (length(parts) == 4L && is_condition && runif(1) < 0.6) {
    parts <- c(parts, structure(list(one_of(FORMS$by)), names = sample(c("by", "keyby"), 1L)))
  }
  if (identical(i, quote(other)) || identical(i, quote(!other)) || runif(1) < 0.1) {
    parts <- c(parts, list(on = sample(c("i", "s"), 1L)))
  }
  if (identical(parts[[3L]], quote(expr = )) && length(parts) == 3L) parts[[3L]] <- 1:2
  as.call(parts)
}

# Where calls are evaluated: outside of packages.
caller_of <- function() {
  env <- list2env(list(limit = 0.5, words = c("a", "\u00fc")), parent = table_caller)
  env$other <- if ("keyed" %in% KINDS) data.table::data.table(i = c(1L, 2L, 9L), s = c("a", "b", "ab"), w = 1:3) else data.frame(i = c(1L, 2L, 9L), w = 1:3)
  env$change <- data.frame(id = 1L, x = 7)
  for (package in c("dplyr", "tidyselect")) if (requireNamespace(package, quietly = TRUE)) {
    for (name in intersect(
      c("n", "desc", "starts_with", "where", "everything"), getNamespaceExports(package)
    )) env[[name]] <- getExportedValue(package, name)
  }
  env
}

random_call <- function(frame) {
  kinds <- c("selection", if ("grouped" %in% KINDS) "pipeline", if (inherits(frame, "data.table")) "brackets")
  switch(
    sample(kinds, 1L), selection = random_selection(frame), pipeline = random_pipeline(),
    brackets = random_brackets()
  )
}

random_column <- function(name, n) {
  switch(name, g = sample(c(3, 1, 2), n, TRUE), di = structure(sample(c(18000:18003, NA), n, TRUE), class = "Date"),
         label = structure(sample(c(1, NA), n, TRUE), label = "a label"), list = lapply(seq_len(n), function(k) if (k %% 2L) "a" else NULL))
}

# The rows joined in memory, with the attributes of the first.
joined_rows <- function(old, new, kind) {
  columns <- Map(function(x, y) {
    if (is.factor(x)) return(factor(c(as.character(x), as.character(y)), levels(x)))
    value <- c(unclass(x), unclass(y))
    attributes(value) <- attributes(x)
    value
  }, unclass(old)[seq_along(old)], lapply(names(old), function(name) new[[name]]))
  frame <- structure(
    columns, class = "data.frame", row.names = .set_row_names(nrow(old) + nrow(new)), names = names(old)
  )
  as_kind(frame, kind)
}

test_that("random selections, verbs and calls give what they give in memory", {
  env <- caller_of()
  for (round in seq_len(by_tier(10L, 24L, 3000L))) {
    set.seed(100 + round)
    kind <- sample(KINDS, 1L)
    frame <- random_frame(sample(c(0L, 1L, 2L, 7L, 40L), 1L), kind)
    table <- entasis(written(frame))
    for (k in 1:8) {
      set.seed(10000 * k + round)
      expect_outcome(env, table, frame, random_call(frame), paste("round", round, kind, nrow(frame)))
    }
  }
})

test_that("tables that grow by random appends answer as the joined frame", {
  env <- caller_of()
  kinds <- intersect(KINDS, c("frame", "tibble", "table", "grouped"))
  for (round in seq_len(by_tier(3L, 6L, 600L))) {
    set.seed(500 + round)
    kind <- sample(kinds, 1L)
    frame <- random_frame(sample(c(1L, 7L, 40L), 1L), kind)
    path <- written(frame)
    for (step in seq_len(sample(4L, 1L))) {
      new <- random_frame(sample(0:20, 1L), "frame")
      for (name in setdiff(names(frame), names(new))) new[[name]] <- random_column(name, nrow(new))
      new <- as_kind(new[sample(names(frame))], if (kind == "grouped") "tibble" else kind)
      if (runif(1) < 0.3 && !any(vapply(frame, is.list, NA))) {
        writer <- tryCatch(writer_entasis(path, append = TRUE), entasis_error_unsupported = function(e) NULL)
      } else {
        writer <- NULL
      }
      if (is.null(writer)) append_entasis(new, path) else {
        is_written <- tryCatch({ writer$write(new); TRUE }, entasis_error = function(e) FALSE)
        writer$close()
        if (!is_written) append_entasis(new, path)
      }
      frame <- joined_rows(frame, new, kind)
      set.seed(7000 * step + round)
      table <- entasis(path)
      expect_outcome(env, table, frame, quote(z[]), paste("append", round, step, kind))
      for (k in 1:3) expect_outcome(env, table, frame, random_call(frame), paste("append", round, step, kind))
    }
    verify_entasis(path)
  }
})
