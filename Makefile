# `make` alone lists the verbs.

# Empty: the newest interpreter for which all libraries have wheels (tools/find-pythons.sh).
PYTHON ?=
VENV ?= .venv
CARGO ?= cargo

# What `make demo` takes. Empty: the default of bench/compare.
ROWS ?=
FILE ?=
ROUNDS ?=
THREADS ?=
PEERS ?=
SWEEP ?=
SCALE ?=
TPCH ?=
LARGE ?=
MEMORY ?=
JSON ?=
CSV ?=
HTML ?=
SUITES ?= all

# What `make fuzz` takes: seconds for each target, and the targets (empty: all).
SECONDS ?= 60
TARGETS ?=

py := $(VENV)/bin/python
pythons = $(or $(PYTHON),$(shell tools/find-pythons.sh))
wheels := $(or $(CARGO_TARGET_DIR),target)/wheels
# The build of the package that tests take: `tested` (profile `gate`), or `package` for PROFILE=release.
tested := $(if $(filter release,$(PROFILE)),package,tested)
pip := $(py) -m pip install --quiet --disable-pip-version-check --prefer-binary
compare := $(py) -m bench.compare \
	$(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(THREADS),--threads $(THREADS)) \
	$(if $(PEERS),--peers $(PEERS)) $(if $(SCALE),--scale $(SCALE)) $(if $(TPCH),--tpch $(TPCH)) \
	$(if $(LARGE),--large) $(if $(MEMORY),--memory) \
	$(if $(JSON),--json $(JSON)) $(if $(CSV),--csv $(CSV)) $(if $(HTML),--html $(HTML))

# The package is built again only when one of these changes.
sources := $(shell find crates python -type d \( -name tests -o -name __pycache__ \) -prune -o \
	-type f \( -name '*.rs' -o -name '*.toml' -o -name '*.py' -o -name '*.pyi' -o -name '*.h' -o -name '*.c' \) -print 2>/dev/null) \
	Cargo.toml Cargo.lock rust-toolchain.toml

.PHONY: help setup env fetch build-rust-tests demo bench fidelity fuzz test test-release test-rust test-asan test-python test-lowest test-pythons test-r check-r-package r-package lint lint-rust lint-others clean distclean check-rust check-python
.DEFAULT_GOAL := help

help: ## List the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  make demo ROWS=50000000            the full headline frame (default: 10 million rows)"
	@echo "  make demo FILE=mine.parquet        your own file: .parquet, .feather, .arrow, .csv (as the second experiment)"
	@echo "  make demo SWEEP=1                  also the time per row from 10^5 to 5x10^7 rows"
	@echo "  make demo ROUNDS=9 THREADS=4 PEERS=entasis,feather-lz4 JSON=out.json CSV=out.csv HTML=out.html"
	@echo "  make demo MEMORY=1                 also the peak memory of each format"
	@echo "  make bench SUITES='nine wide' SCALE=0.1   some suites, sizes a tenth (python -m bench.compare --list)"
	@echo "  make fuzz SECONDS=600 TARGETS='block python-read'   some fuzz targets, ten minutes each"
	@echo "  make bench SUITES=targets TPCH=1 LARGE=1  the suites that have targets, and the frames of 10^8 elements"

setup: $(VENV)/.package $(VENV)/.peers $(VENV)/.tests ## Make .venv and build the package into it (release)

env: $(VENV)/.libraries $(VENV)/.peers $(VENV)/.tests ## The same without the package: libraries, peers, test tools

build-rust-tests: check-rust # The programs of `make test-rust`, without running them.
	@tools/test-rust.py --profile $(or $(PROFILE),gate) --no-run

fetch: $(VENV)/.tests $(VENV)/.pyright $(VENV)/.lowest # What the tests of Python need, without the package.

demo: $(VENV)/.package $(VENV)/.peers ## The headline experiment against the other formats (below)
	@$(compare) demo $(if $(ROWS),--rows $(ROWS)) $(if $(FILE),--file '$(FILE)') $(if $(SWEEP),--sweep)

bench: $(VENV)/.package $(VENV)/.peers ## Throughput of the kernels, then the comparison's SUITES (all)
	$(CARGO) run --release --quiet -p entasis-kernels --example throughput
	@$(compare) $(SUITES) $(if $(ROWS),--rows $(ROWS)) $(if $(FILE),--file '$(FILE)')

fidelity: $(VENV)/.package $(VENV)/.peers ## Write and read 2,372 values with each format, into docs/fidelity.md
	@$(py) -m bench.fidelity --write

rust_targets := $(filter-out python-%,$(TARGETS))
python_targets := $(patsubst python-%,%,$(filter python-%,$(TARGETS)))

fuzz: check-rust ## Run each fuzz target for SECONDS (60); needs a nightly compiler, and Atheris for Python
	@$(if $(rust_targets)$(if $(TARGETS),,all),tools/fuzz.sh $(SECONDS) $(rust_targets),true)
	@$(if $(python_targets)$(if $(TARGETS),,all),tools/fuzz-python.sh $(SECONDS) $(python_targets),true)

test: ## All tests of a change, from one build (profile `gate`)
	@tools/test.sh

test-release: ## Everything else, for releases: all interpreters, R CMD check, PyTorch, sanitizers, fuzzing
	@tools/test-release.sh

test-rust: check-rust ## Only the Rust tests (PROFILE=release for another profile)
	@tools/test-rust.py --profile $(or $(PROFILE),gate)

test-asan: check-rust ## The Rust tests under AddressSanitizer (needs a nightly compiler)
	@tools/test-asan.sh

test-python: $(VENV)/.$(tested) $(VENV)/.tests $(VENV)/.pyright ## Only the Python tests (PROFILE=release for that build)
	$(py) -m pytest -n auto --maxprocesses 4 $(if $(filter release,$(PROFILE)),,-m 'not release') python/tests

test-lowest: $(VENV)/.$(tested) $(VENV)/.lowest ## Tests of libraries on the oldest Python with the lowest versions of the libraries
	@tools/test-pythons.sh lowest '$(abspath $(py))' $(wheels)/entasis-*.whl

test-pythons: $(VENV)/.$(tested) ## The core tests on every other Python here, and with the lowest versions
	@tools/test-pythons.sh all '$(abspath $(py))' $(wheels)/entasis-*.whl

test-r: $(VENV)/.$(tested) ## Only the R tests (installs R on Debian as root, else needs it)
	@# With the Python package the dependencies have the features that they have in the other tests.
	@PYO3_BUILD_EXTENSION_MODULE=1 $(CARGO) build --quiet --profile gate --package entasis-r \
		--package entasis-python --features entasis-python/tested
	@ENTASIS_STATICLIB=$(or $(CARGO_TARGET_DIR),target)/gate/libentasis_r.a tools/test-r.sh '$(abspath $(py))'

check-r-package: $(VENV)/.package ## The source package of R: R CMD check --as-cran, offline
	@tools/check-r-package.sh '$(abspath $(py))'

r-package: check-rust ## The source package of R, with all that it is built from, in target/r-package
	@tools/r-package.sh "$${CARGO_TARGET_DIR:-target}/r-package"

lint: lint-rust lint-others ## Formatting, clippy, dependencies, ruff, mypy, prose

lint-rust: check-rust # Without the environment of Python, so that both halves can run side by side.
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	@tools/check-features.sh
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny check bans licenses sources; \
	else echo "note: cargo-deny is not installed, so the dependencies' licences are not checked"; fi

lint-others: $(VENV)/.tests
	$(VENV)/bin/clang-format --dry-run -Werror r/src/*.c r/src/*.h
	$(py) tools/check-layers.py
	$(py) -m ruff check python bench
	$(py) -m ruff check --config bench/ruff.toml attacks examples fuzz r tools
	$(py) -m ruff format --check python bench
	$(py) -m ruff format --config bench/ruff.toml --check attacks examples fuzz r tools
	$(py) tools/check-prose.py
	$(py) -m mypy --ignore-missing-imports bench/compare
	$(py) -m mypy --ignore-missing-imports --follow-imports=silent bench/fidelity/*.py bench/fidelity/same bench/fidelity/formats
	cd python && $(abspath $(py)) -m mypy entasis

clean: ## Remove what was built (keeps .venv and the demo's data)
	$(CARGO) clean
	rm -rf .pytest_cache .hypothesis .mypy_cache .ruff_cache $(VENV)/.package

distclean: clean ## Remove .venv and the demo's data too
	rm -rf $(VENV) .demo

check-rust:
	@tools/check-tools.sh rust

check-python:
	@tools/check-tools.sh python '$(firstword $(pythons) python3)'

# --- stamps: each step is done again only when what it stands on changes ------

$(VENV)/.libraries: bench/requirements.txt | check-python
	@echo "making $(VENV) with the data frame libraries"
	@tools/make-venv.sh '$(VENV)' bench/requirements.txt $(pythons)
	@touch $@

$(VENV)/.peers: $(VENV)/.libraries bench/requirements-peers.txt
	@echo "installing the formats to compare with"
	@tools/install-optional.sh '$(VENV)' bench/requirements-peers.txt
	@touch $@

$(VENV)/.tests: $(VENV)/.libraries python/requirements-test.txt
	@echo "installing the test tools"
	@$(pip) -r python/requirements-test.txt
	@touch $@

$(VENV)/.pyright: $(VENV)/.libraries tools/install-pyright.sh
	@tools/install-pyright.sh '$(VENV)'
	@touch $@

$(VENV)/.lowest: $(VENV)/.libraries python/pyproject.toml tools/test-pythons.sh
	@tools/test-pythons.sh prepare '$(abspath $(py))'
	@touch $@

# One environment holds one build of the package: each stamp removes the other.
$(VENV)/.package: $(VENV)/.libraries $(sources) | check-rust
	@echo "building the package (release)"
	@rm -rf '$(wheels)' $(VENV)/.tested
	@$(py) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir '$(wheels)' ./python
	@$(pip) --force-reinstall --no-deps '$(wheels)'/entasis-*.whl
	@touch $@

$(VENV)/.tested: $(VENV)/.libraries $(VENV)/.tests $(sources) | check-rust
	@echo "building the package for the tests"
	@rm -rf '$(wheels)' $(VENV)/.package
	@$(py) -m maturin build --quiet --profile gate --features tested --manifest-path python/Cargo.toml --out '$(wheels)'
	@$(pip) --force-reinstall --no-deps '$(wheels)'/entasis-*.whl
	@touch $@
