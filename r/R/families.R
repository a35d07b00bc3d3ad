# Standard families of generalized linear models, which files store by name.

# A family of package stats by its name and link, or NULL.
standard_family <- function(family, link) {
  links <- c("logit", "probit", "cauchit", "cloglog", "identity", "log", "sqrt", "1/mu^2", "inverse")
  if (!is_string(family) || !is_string(link) || !link %in% links) {
    return(NULL)
  }
  make <- switch(family,
    binomial = stats::binomial, gaussian = stats::gaussian, Gamma = stats::Gamma,
    inverse.gaussian = stats::inverse.gaussian,
    poisson = stats::poisson, quasibinomial = stats::quasibinomial, quasipoisson = stats::quasipoisson
  )
  if (!is.null(make)) tryCatch(make(link = link), error = function(e) NULL)
}
