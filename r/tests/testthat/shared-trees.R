# Random trees whose values share vectors, frames and environments, for test-shared.R. Each has a
# seed, so that a failure can be repeated.

# Sizes around the thresholds of writer and reader: 512 bytes, and 32 or 64 items.
BOUNDS <- c(0:3, 31:33, 63:65, 127:129, 600)

shared_tree <- function(seed) {
  set.seed(seed)
  size <- function() sample(BOUNDS, 1L)
  vectors <- lapply(1:5, function(i) {
    n <- size()
    switch(sample(7L, 1L), runif(n), seq_len(n), sprintf("word %d", seq_len(n)), rep_len(c(TRUE, NA), n), complex(real = seq_len(n)),
           as.raw(seq_len(n) %% 256), stats::setNames(as.double(seq_len(n)), sprintf("n%d", seq_len(n))))
  })
  any_vector <- function() vectors[[sample(length(vectors), 1L)]]
  frames <- lapply(1:2, function(i) {
    n <- size()
    x <- list(a = seq_len(n), b = as.double(seq_len(n)) / 4, c = as.character(seq_len(n)))
    structure(x, class = "data.frame", row.names = c(NA, -n))
  })
  env <- new.env(parent = globalenv())
  envs <- list(env, new.env(parent = env))
  thing <- function(depth) {
    switch(sample(if (depth > 3L) 13L else 17L, 1L),
      any_vector(), any_vector(), any_vector(), factor(sample(c("u", "v", NA), size(), TRUE), c("u", "v")),
      quote(f(x, 1)),
      structure(quote(y ~ x), class = "formula", .Environment = globalenv()),
      structure(any_vector(), class = "special"),
      frames[[sample(2L, 1L)]], envs[[sample(2L, 1L)]], NULL, sample(list(1, "a", 2L, NA, NaN), 1L)[[1L]],
      as.Date("2020-01-01") + seq_len(size()),
      structure(list(coefficients = any_vector(), terms = quote(a + b), call = quote(fit(x))), class = "model"),
      lapply(seq_len(sample(8L, 1L)), function(i) thing(depth + 1L)),
      stats::setNames(lapply(1:4, function(i) thing(depth + 1L)), c("p", "q", "r", "s")),
      lapply(seq_len(sample(c(31:33, 63:65), 1L)), function(i) if (i %% 9 == 0) any_vector() else c(a = i, b = 1)),
      structure(list(thing(depth + 1L)), class = "holder", note = any_vector(), other = thing(depth + 1L))
    )
  }
  env$inside <- thing(2L)
  envs[[2L]]$vector <- any_vector()
  tree <- lapply(seq_len(sample(3:9, 1L)), function(i) thing(1L))
  # Seldom a frame with a list column, which is a table at the root.
  if (seed %% 5 == 0) {
    n <- length(tree)
    tree <- structure(list(k = seq_len(n), l = tree), class = "data.frame", row.names = c(NA, -n))
  }
  tree
}

# Whether two trees are the same. Environments are paired when they are first seen, and the pairs
# must match everywhere.
same_tree <- function(a, b) {
  pairs <- list()
  walk <- function(a, b) {
    if (is.environment(a)) {
      known <- which(vapply(pairs, function(pair) identical(pair[[1L]], a), NA))
      if (length(known) > 0L) {
        return(identical(pairs[[known]][[2L]], b))
      }
      if (identical(a, globalenv())) {
        return(identical(a, b))
      }
      pairs[[length(pairs) + 1L]] <<- list(a, b)
      return(is.environment(b) && identical(sort(ls(a, all.names = TRUE)), sort(ls(b, all.names = TRUE))) && walk(parent.env(a), parent.env(b)) &&
        all(vapply(ls(a, all.names = TRUE), function(name) walk(get(name, a), get(name, b)), NA)))
    }
    if (typeof(a) != "list") {
      return(identical(a, b, num.eq = FALSE, single.NA = FALSE, attrib.as.set = FALSE))
    }
    if (typeof(b) != "list" || length(unclass(a)) != length(unclass(b)) || !identical(names(attributes(a)), names(attributes(b)))) {
      return(FALSE)
    }
    all(
      unlist(Map(walk, unname(attributes(a)), unname(attributes(b)))),
      unlist(Map(walk, unname(unclass(a)), unname(unclass(b))))
    )
  }
  walk(a, b)
}
