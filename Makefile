# gradwatch: all that a newcomer and a CI machine need is python3 (3.10 to 3.13) and make.
#
#   make            lists the targets
#   make demo       a real training, live in the browser
#   make test       everything that CI runs
#   make thorough   the long trainings that it leaves out
#
# Variables: PYTHON=python3.12 picks the interpreter of a new .venv, TENSORFLOW='tensorflow==2.20.*' the TensorFlow in it,
# SCENARIO=norm-mask what `make demo` plays, TESTS=tests/unit what `make pytest` runs, WORKERS=2 in how many processes, CI=true turns
# missing tools into errors.

.DEFAULT_GOAL := help
SHELL := /bin/sh

VENV ?= .venv
BIN := $(VENV)/bin
PLATFORM := $(shell uname -s)-$(shell uname -m)
TENSORFLOW ?= $(if $(filter Linux-x86_64,$(PLATFORM)),tensorflow-cpu,tensorflow)
SCENARIO ?=
TESTS ?=
WORKERS ?= 2

# A stamp a set of extras and TensorFlow: a second call has nothing to do, another TENSORFLOW or a changed pyproject.toml has.
FLAVOUR := $(shell printf '%s' '$(TENSORFLOW)' | tr -c 'A-Za-z0-9.' '-')
# Keras 2, for its tests, goes with TensorFlow's minor version. It comes without its dependencies: it asks for `tensorflow`, which would
# be laid over tensorflow-cpu, in the same folder.
TENSORFLOW_NAME := $(shell printf '%s' '$(TENSORFLOW)' | sed 's/[^A-Za-z0-9_-].*//')
TF_KERAS := from importlib.metadata import version; print("tf_keras==%s.%s.*" % tuple(version("$(TENSORFLOW_NAME)").split(".")[:2]))
DEMO_STAMP := $(VENV)/.demo-$(FLAVOUR)
DEV_STAMP := $(VENV)/.dev-$(FLAVOUR)
NODE_STAMP := frontend/node_modules/.installed
PAGE_TESTS := $(wildcard frontend/tests/*.test.mjs)
NODE := $(shell command -v npm >/dev/null 2>&1 && command -v node)

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  \033[1m%-10s\033[0m %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: $(DEMO_STAMP) ## Train on real data and watch it live in the browser (SCENARIO=... for a single one)
	$(BIN)/gradwatch demo $(SCENARIO)

.PHONY: serve
serve: $(DEMO_STAMP) ## Start the dashboard for your own trainings
	$(BIN)/gradwatch serve

.PHONY: test
test: lint test-page pytest ## Everything: lint, the page's tests, pytest with browser tests

.PHONY: pytest
pytest: $(DEV_STAMP) ## Python tests alone (TESTS='tests/unit -k ring' for some of them)
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile $(TESTS)

.PHONY: thorough
thorough: $(DEV_STAMP) ## The trainings that `test` leaves out, some hours: before a change of hook or rules goes in
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile -m thorough $(TESTS)

.PHONY: lint
lint: $(DEV_STAMP) lint-page ## ruff, mypy --strict, and tsc over the page's JSDoc types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.PHONY: format
format: $(DEV_STAMP) ## Rewrite the sources as the formatter wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: bench
bench: $(DEV_STAMP) ## Measure what the hook costs a training step
	$(BIN)/python -m benchmarks.overhead

.PHONY: dist
dist: $(DEV_STAMP) ## Build the wheel and the source archive into dist/
	$(BIN)/python -m build

.PHONY: setup
setup: $(DEV_STAMP) ## Make .venv with everything for development, and the pre-commit hooks
	@if [ -d .git ]; then $(BIN)/pre-commit install; fi

.PHONY: clean
clean: ## Remove what was built, and caches; .venv stays
	rm -rf build dist artifacts .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find client_hook server frontend tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## clean, and remove .venv and frontend/node_modules too
	rm -rf $(VENV) frontend/node_modules

# The page's development tools. A user never needs Node; a developer without it is told what was left out; CI must have it.
.PHONY: lint-page test-page
ifneq ($(NODE),)
lint-page: $(NODE_STAMP)
	cd frontend && npx --no-install tsc --project .

# Without names node would look for tests everywhere, also in .venv, and call none at all a success.
test-page:
	@test -n "$(PAGE_TESTS)" || { echo "no tests of the page under frontend/tests" >&2; exit 1; }
	node --test $(PAGE_TESTS)

$(NODE_STAMP): frontend/package.json $(wildcard frontend/package-lock.json)
	cd frontend && npm $(if $(wildcard frontend/package-lock.json),ci,install) --no-audit --no-fund
	@touch $@
else
lint-page test-page:
	@echo "$@: node and npm are not on the PATH, so the page's types and tests are not checked here." >&2
	@test "$(CI)" != true
endif

$(DEMO_STAMP): pyproject.toml | $(BIN)/python
	@echo "Installing gradwatch with its server and $(TENSORFLOW) into $(VENV) (once; a minute or two) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[demo]' '$(TENSORFLOW)'
	@touch $@

$(DEV_STAMP): pyproject.toml | $(BIN)/python
	@echo "Installing gradwatch for development and $(TENSORFLOW) into $(VENV) (once; a minute or two) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' '$(TENSORFLOW)'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps "$$($(BIN)/python -c '$(TF_KERAS)')" || \
		{ echo "No tf_keras (Keras 2) fits this TensorFlow; its tests are skipped." >&2; test "$(CI)" != true; }
	@touch $(DEMO_STAMP) $@

# The newest interpreter that fits and can make environments. Version managers put names on the PATH that do not run, so each is tried.
$(BIN)/python:
	@fitting=; chosen=; \
	for python in $(if $(PYTHON),'$(PYTHON)',python3.13 python3.12 python3.11 python3.10 python3 python); do \
		"$$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1 || continue; \
		fitting=$$python; \
		"$$python" -c 'import ensurepip, venv' >/dev/null 2>&1 && { chosen=$$python; break; }; \
	done; \
	if [ -z "$$fitting" ]; then \
		echo "gradwatch needs Python 3.10 to 3.13, and found none$(if $(PYTHON), under the name $(PYTHON), on the PATH)." >&2; \
		echo "Install one, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; \
	elif [ -z "$$chosen" ]; then \
		echo "$$fitting cannot make virtual environments: its modules venv and ensurepip are missing." >&2; \
		echo "On Debian and Ubuntu: sudo apt install python3-venv   (or name another: make PYTHON=... $(MAKECMDGOALS))" >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with $$("$$chosen" --version) ..."; \
	"$$chosen" -m venv '$(VENV)'
