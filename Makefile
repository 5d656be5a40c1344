# Everything sets itself up: `make run` and `make test` work on a fresh machine with Python 3.11+.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
LOCALE := src/eddi/service/web/locale
OLDEST_TESTS := tests/table tests/strategy tests/interview tests/store tests/cli tests/contract tests/service/interviews \
	tests/service/web tests/test_partial_vae.py tests/test_public_api.py tests/test_html.py tests/test_readme.py
QUICK := tests/table tests/model/network tests/strategy tests/test_layers.py tests/test_names.py tests/test_errors.py
.DEFAULT_GOAL := help
# Tests start many processes: without compiled modules each of them would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help run test test-oldest quick lint check bench catalogue docs dist clean

help:  ## Show the commands
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.run: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[plots,web]"
	@touch $@

$(VENV)/.dev: $(VENV)/.run benchmarks/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" -e ./benchmarks
	@touch $@

run: $(VENV)/.run  ## Serve the demo questionnaire; trains the first time
	$(BIN)/eddi demo --serve

test: lint  ## Lint, types, and all tests that are not marked slow
	@$(BIN)/mypy & types=$$!; $(BIN)/python -m pytest -n auto --dist worksteal; tests=$$?; wait $$types && exit $$tests

quick: $(VENV)/.dev  ## The fast tests of the library, in about a minute
	$(BIN)/python -m pytest -n auto --dist worksteal $(QUICK)

lint: $(VENV)/.dev  ## Lint only
	$(BIN)/ruff check src tests benchmarks docs deploy
	$(BIN)/ruff format --check src tests benchmarks docs deploy

check: lint  ## Lint and types only
	$(BIN)/mypy

bench: $(VENV)/.dev  ## Slow tests, then the benchmarks: imputation, training and reward speed
	$(BIN)/python -m pytest -n auto -m slow
	$(BIN)/python -m eddi_benchmarks

catalogue: $(VENV)/.dev  ## Extract the texts of the pages, update the translations, and compile them
	$(BIN)/pybabel -q extract -F pyproject.toml -k N_ --no-location --sort-output -o $(LOCALE)/eddi.pot src/eddi/service
	$(BIN)/pybabel -q update -D eddi -i $(LOCALE)/eddi.pot -d $(LOCALE) --no-fuzzy-matching --ignore-pot-creation-date -w 100
	$(BIN)/pybabel -q compile -D eddi -d $(LOCALE)
	rm $(LOCALE)/eddi.pot

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	@touch $@

docs: $(VENV)/.docs  ## Build the documentation site: execute its examples, run its doctests
	$(BIN)/python -m pytest -p no:cacheprovider tests/test_docs.py tests/test_readme.py
	$(BIN)/python -m sphinx -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python -m pytest -p no:cacheprovider -m "slow or not slow" tests/system/test_site.py
	@echo "The site is in docs/_build/html/index.html"

dist: $(VENV)/.dev  ## Build the wheel and the source distribution, and test their contents
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	EDDI_DIST=dist $(BIN)/python -m pytest -p no:cacheprovider tests/release/test_dist.py

test-oldest:  ## Test with the oldest supported versions of all direct dependencies
	rm -rf $(OLDEST)
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) tests/release/oldest_versions.py $(TORCH) > $(OLDEST)/requirements.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -r $(OLDEST)/requirements.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps .
	$(OLDEST)/bin/python -m pytest -p no:cacheprovider -o filterwarnings=default $(OLDEST_TESTS)

clean:  ## Remove generated files
	rm -rf $(VENV) $(OLDEST) build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
