# Long work tells how far it is in interactive sessions.
.onLoad <- function(libname, pkgname) {
  if (is.null(getOption("entasis.progress"))) options(entasis.progress = interactive())
}
