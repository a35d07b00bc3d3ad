.onLoad <- function(libname, pkgname) {
  # Long work tells how far it is in interactive sessions.
  if (is.null(getOption("entasis.progress"))) options(entasis.progress = interactive())
  tools::vignetteEngine("vignette", weave = weave, tangle = tangle, pattern = "[.]Rmd$", package = pkgname)
}
