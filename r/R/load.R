.onLoad <- function(libname, pkgname) {
  register_for_others()
  tools::vignetteEngine("vignette", weave = weave, tangle = tangle, pattern = "[.]Rmd$", package = pkgname)
}
