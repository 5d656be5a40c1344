# Everything sets itself up: `make run` and `make test` work on a fresh machine with Python 3.11+.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICK := tests/table tests/model/network tests/strategy tests/test_layers.py tests/test_names.py tests/test_errors.py
.DEFAULT_GOAL := help
.PHONY: help run test quick check bench clean

help:  ## Show the commands
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

$(VENV)/.run: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[plots,web]"
	@touch $@

$(VENV)/.dev: $(VENV)/.run benchmarks/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" -e ./benchmarks
	@touch $@

run: $(VENV)/.run  ## Serve the demo questionnaire; trains the first time
	$(BIN)/eddi demo --serve

test: check  ## Lint, types, and all tests that are not marked slow
	$(BIN)/python -m pytest -n auto --dist worksteal

quick: $(VENV)/.dev  ## The fast tests of the library, in about a minute
	$(BIN)/python -m pytest -n auto --dist worksteal $(QUICK)

check: $(VENV)/.dev  ## Lint and types only
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

bench: $(VENV)/.dev  ## Slow tests, then the benchmarks: imputation, training and reward speed
	$(BIN)/python -m pytest -n auto -m slow
	$(BIN)/python -m eddi_benchmarks

clean:  ## Remove generated files
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
