# External pointers keep the values of R that they refer to. Objects that are nothing but pointers
# are refused.

source("golden.R", local = TRUE)

# The bytes of serialize() show the tag and the protected value of a pointer.
expect_pointers <- function(x) {
  path <- written(x)
  expect_identical(serialize(read_entasis(path), NULL), serialize(x, NULL))
  path
}

# A pointer to memory that is not R's.
memory <- function() unclass(getLoadedDLLs()[["stats"]])$handle

test_that("external pointers keep their tag and protected value", {
  pointer <- pointer_to(as.raw(1:3), list(a = 1:100, b = quote(f(x))))
  expect_silent(path <- expect_pointers(pointer))
  expect_identical(typeof(read_entasis(path)), "externalptr")
  expect_pointers(pointer_to(NULL, "protected"))
  expect_pointers(pointer_to(as.name("tag"), NULL))
  expect_pointers(structure(pointer_to("a", pointer_to(NULL, NULL)), class = "of a package", note = "b"))
  expect_pointers(list(first = pointer, f = factor("x"), second = list(pointer_to(pointer, 1))))
  frame <- data.frame(x = c(1L, 5L))
  frame$l <- list(pointer, NULL)
  expect_pointers(frame)
  expect_identical(serialize(entasis(written(frame))$l, NULL), serialize(frame$l, NULL))
  # Null pointers of methods lose nothing.
  expect_silent(expect_pointers(methods::new("externalptr")))
})

test_that("a pointer that occurs twice is one pointer", {
  pointer <- pointer_to(seq_len(1e5) + 0, NULL)
  x <- list(a = pointer, b = list(pointer))
  path <- expect_pointers(x)
  back <- read_entasis(path)
  expect_lt(file.size(path), 1.2 * file.size(written(pointer)))
})

test_that("values of pointers are checked like others", {
  env <- new.env(parent = globalenv())
  env$pointer <- pointer_to(NULL, env)
  expect_identical(typeof(read_entasis(written(env))$pointer), "externalptr")
  path <- tempfile()
  expect_error(
    write_entasis(list(p = pointer_to(NULL, mean)), path), "protected.by($p)", fixed = TRUE,
    class = "entasis_error_unsupported"
  )
  expect_error(write_entasis(list(p = pointer_to(list(mean), NULL)), path), "functions = TRUE", fixed = TRUE)
  expect_false(file.exists(path))
  path <- written(list(p = pointer_to(NULL, mean)), functions = TRUE)
  expect_error(read_entasis(path), "functions = TRUE", class = "entasis_error_unsupported")
  expect_identical(typeof(read_entasis(path, functions = TRUE)$p), "externalptr")
})

test_that("the address of a pointer is reported, and its values are kept", {
  skip_if_not_installed("data.table")
  pointer <- attr(data.table::data.table(a = 1:3), ".internal.selfref")
  path <- tempfile()
  expect_message(
    write_entasis(list(p = pointer), path), "note: $p is an external pointer, whose address is stored as null",
    fixed = TRUE
  )
  expect_identical(serialize(read_entasis(path)$p, NULL), serialize(pointer, NULL))
})

test_that("sequences of Bioconductor are kept", {
  skip_if_not_installed("Biostrings")
  dna <- Biostrings::DNAStringSet(c(a = "ACGT", b = "GG"))
  expect_silent(path <- written(dna))
  expect_identical(as.character(read_entasis(path)), c(a = "ACGT", b = "GG"))
  expect_identical(as.character(entasis(path)), c(a = "ACGT", b = "GG"))
  other <- list(
    Biostrings::DNAString("ACGT"), Biostrings::AAStringSet(c("MK", "V")), XVector::XInteger(3, 1:3),
    XVector::XRaw(2, as.raw(1:2)), dna[2]
  )
  expect_identical(lapply(read_entasis(written(other)), as.vector), lapply(other, as.vector))
  skip_if_not_installed("SummarizedExperiment")
  rows <- S4Vectors::DataFrame(sequence = dna, row.names = c("r1", "r2"))
  experiment <- SummarizedExperiment::SummarizedExperiment(list(counts = matrix(1:4, 2)), rowData = rows)
  back <- read_entasis(written(list(of = experiment)))$of
  expect_identical(as.character(SummarizedExperiment::rowData(back)$sequence), c(a = "ACGT", b = "GG"))
  expect_identical(SummarizedExperiment::assay(back), SummarizedExperiment::assay(experiment))
})

test_that("objects that are nothing but pointers are refused by their class", {
  path <- written(1:3)
  methods::setClass("entasis_shell", representation(address = "ANY", other = "ANY"), where = globalenv())
  on.exit(methods::removeClass("entasis_shell", where = globalenv()))
  shell <- methods::new("entasis_shell", address = memory(), other = memory())
  refused <- list(
    list(memory(), "x: an external pointer keeps its data outside of R"),
    list(structure(list(node = memory(), doc = memory()), class = c("xml_document", "xml_node")), "xml2::read_xml()"),
    list(
      structure(list(), physical = memory(), virtual = list(1), class = c("ff_vector", "ff")),
      "write x[], or use ff::ffsave()"
    ),
    list(shell, "x: an object of class \"entasis_shell\" keeps its data outside of R"),
    list(list(a = 1, deep = list(shell)), "remove it: x$deep[1] <- list(NULL)")
  )
  for (case in refused) {
    for (functions in c(FALSE, TRUE)) {
      expect_error(
        write_entasis(case[[1L]], path, functions = functions), case[[2L]], fixed = TRUE,
        class = "entasis_error_unsupported"
      )
    }
  }
  expect_identical(read_entasis(path), 1:3)
  # An object with data of its own is kept, and lists of pointers are values.
  expect_message(write_entasis(methods::new("entasis_shell", address = memory(), other = 1), path), "@address")
  expect_message(write_entasis(list(memory(), I(list(memory()))), path), "(1 other too)", fixed = TRUE)
})

test_that("rasters and vectors of terra are refused, and their wrapped forms kept", {
  skip_if_not_installed("terra")
  raster <- suppressMessages(terra::rast(nrows = 2, ncols = 2, vals = 1:4))
  path <- tempfile()
  for (x in list(raster, list(a = raster), terra::vect("POINT (1 2)"))) {
    for (functions in c(FALSE, TRUE)) {
      expect_error(
        write_entasis(x, path, functions = functions), "an object of class \"Spat.*write terra::wrap\\(x\\)",
        class = "entasis_error_unsupported"
      )
    }
  }
  expect_false(file.exists(path))
  expect_identical(terra::values(terra::unwrap(read_entasis(written(terra::wrap(raster))))), terra::values(raster))
})

test_that("the golden file of pointers gives its values", {
  path <- file.path(Sys.getenv("ENTASIS_GOLDEN"), "golden", "r", "pointers.entasis")
  if (!file.exists(path)) skip("needs ENTASIS_GOLDEN, the folder of golden files")
  expect_identical(serialize(read_entasis(path), NULL), serialize(golden_pointers(), NULL))
})
