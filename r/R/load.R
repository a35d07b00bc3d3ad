.onLoad <- function(libname, pkgname) {
  # Interactive sessions show the progress of long work.
  if (is.null(getOption("entasis.progress"))) options(entasis.progress = interactive())
  register_for_others()
  tools::vignetteEngine("vignette", weave = weave, tangle = tangle, pattern = "[.]Rmd$", package = pkgname)
}
