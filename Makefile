# Everything sets itself up: `make run` and `make test` work on a fresh machine with Python 3.11+.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: help run test check bench clean

help:  ## Show what there is
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

$(VENV)/.run: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[plots,web]"
	@touch $@

$(VENV)/.dev: $(VENV)/.run benchmarks/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" -e ./benchmarks
	@touch $@

run: $(VENV)/.run  ## Serve a questionnaire on an embedded table, trained first if it is not yet
	$(BIN)/eddi demo --serve

test: $(VENV)/.dev  ## Lint, types, and every test
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto

check: $(VENV)/.dev  ## Lint and types only
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

bench: $(VENV)/.dev  ## Prove the claims: imputation against peers, training speed
	$(BIN)/python -m eddi_benchmarks

clean:  ## Remove what the other commands made
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
