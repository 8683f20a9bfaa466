# make        set up .venv and run the default configuration
# make test   set up .venv and pass the tests
# make lock   resolve the pinned versions anew (needs uv; run it after a change of pyproject.toml)
PYTHON ?= python3
CORES ?= all
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run test setup setup-dev check lock clean
run: setup
	$(BIN)/snakemake --cores $(CORES)

test: setup-dev check
	$(BIN)/pytest

setup: $(VENV)/.installed
setup-dev: $(VENV)/.installed-dev

# Each lock file is a full, hash-pinned list; the package itself is installed from the source folder.
$(VENV)/.installed: requirements.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "vsebench needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.lock
	$(BIN)/pip install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

check:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/mypy

lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--group build pyproject.toml --output-file requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--group build --group dev pyproject.toml --constraint requirements.lock --output-file requirements-dev.lock

# Results, figures and processed data go; what was downloaded (data/raw) and .venv stay.
clean:
	rm -rf results figures data/processed .snakemake
