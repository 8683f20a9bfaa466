# make                          set up .venv and run the default configuration
# make CONFIG=config/iapr.yaml  run another configuration; TARGETS="accuracy claims" makes parts of a run
# make OUT=runs/mine CONFIG=...  put a run into a folder of its own; runs with OUT share downloads and prepared data
# make iapr                     run the VSE papers' methods on IAPR TC-12; make paper: all data sets of both papers
# make test                     set up .venv, run the linters, type checks and tests
# make test-long                run tests that take an hour: long fuzzing, and runs that are killed many times;
#                               PAGE=docs/reliability.md writes their results into the tables of that page
# make test-lowest              run tests with the lowest versions of packages; test-newest: the newest (both need uv)
# make test-networks            install onnxruntime and PyTorch (5 GB), and run the tests that need them
# make test-slurm               start Slurm on this machine, and test runs on it (needs root; docs/cluster.md)
# make benchmark                compare speed with other packages (docs/benchmarks.md); run this on an idle machine
# make setup-peers              install the third-party packages of the methods implicit_als, irspack_ials and lightfm_*
# make setup-images             install the packages that compute image features with a network (docs/features.md)
# make setup-torch              install PyTorch and onnx, to export networks (docs/clip.md)
# make setup-cluster            install the package that submits jobs to Slurm (docs/cluster.md)
# make wheel                    build the wheel and the source archive, in dist
# make docs                     build the site of the pages, docs/_build/index.html, and check the links between them
# make lock                     choose the pinned versions again (needs uv; run it after you change pyproject.toml);
#                               UPGRADE=--upgrade chooses the newest versions
PYTHON ?= python3
CORES ?= all
CONFIG =
TARGETS =
OUT =
PAGE =
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# All jobs of a run import the same modules, so Python should keep them compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run iapr paper test compiled-tests test-long test-lowest test-newest test-networks test-slurm benchmark wheel setup setup-dev setup-peers setup-images setup-torch setup-cluster setup-docs docs check lock clean
run: setup
	@$(BIN)/vsebench run $(if $(CONFIG),'$(CONFIG)') $(TARGETS) --cores $(CORES)$(if $(OUT), --out '$(OUT)')

iapr: setup-peers
	@$(MAKE) --no-print-directory run CONFIG=config/iapr-short.yaml

paper: setup-peers
	@$(MAKE) --no-print-directory run CONFIG=config/paper.yaml

WORKERS = --numprocesses $$($(BIN)/python -c 'import os; print(min(8, os.cpu_count() + 1))') --dist loadfile
# One worker more than cores (but at most eight), because some tests wait for a server or a lock.
test: setup-dev
	@$(MAKE) --no-print-directory --jobs 2 check compiled-tests
	$(BIN)/pytest $(WORKERS) --no-loadscope-reorder

# Without this step, each worker would compile all tests.
compiled-tests:
	-@$(BIN)/pytest --collect-only -qq > $(VENV)/tests.txt

# Runs use neither of these two environments. Both contain the newest versions of the test tools.
RESOLUTION_lowest := lowest-direct
RESOLUTION_newest := highest
test-lowest test-newest: test-%:
	uv venv --quiet --clear --seed --python $(PYTHON) .venv-$*
	uv pip compile --quiet --resolution $(RESOLUTION_$*) --no-header pyproject.toml --output-file .venv-$*/versions.txt
	uv pip install --quiet --python .venv-$* --requirements .venv-$*/versions.txt --group build --group dev
	uv pip install --quiet --python .venv-$* --no-deps --no-build-isolation --editable .
	NUMBA_CACHE_DIR=.venv-$*/kernels .venv-$*/bin/pytest --numprocesses auto --dist loadfile

# The last command compiles the kernels with bounds checks. It uses a separate cache, so that runs do not load them.
test-long: setup-dev
	$(BIN)/pytest -m long
	for trial in kills obstacles fuzz determinism; do $(BIN)/python -m tests.reliability $$trial $(if $(PAGE),--page '$(PAGE)') || exit; done
	$(BIN)/pytest -m hypothesis --hypothesis-profile thorough $(WORKERS)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/checked-kernels $(BIN)/pytest tests/kernels tests/methods/test_boundaries.py $(WORKERS)

test-networks: setup-dev setup-images setup-torch
	$(BIN)/pytest $(shell grep --recursive --files-with-matches --extended-regexp --include='test_*.py' 'importorskip.*(torch|onnx|setup-images)' tests)

test-slurm: setup-dev setup-cluster
	$(BIN)/pytest -m slurm -v

wheel: setup
	rm -rf dist
	$(BIN)/python -m hatchling build

benchmark: setup-dev setup-peers
	$(BIN)/python -m benchmarks

setup: $(VENV)/.installed
setup-dev: $(VENV)/.installed-dev
setup-peers: $(VENV)/.installed-peers
setup-images: $(VENV)/.installed-images
setup-torch: $(VENV)/.installed-torch
setup-cluster: $(VENV)/.installed-cluster
setup-docs: $(VENV)/.installed-docs

# The lock files are complete lists with hashes. Build tools are installed first, from their own list, because one
# dependency of Snakemake is published only as source code, and pip would otherwise fetch unpinned tools to build it.
$(VENV)/.installed: requirements/build.lock requirements/runtime.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "vsebench needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "vsebench needs Python 3.11 or newer, and the Python in $(VENV) is older; delete $(VENV) and run make again")'
	$(BIN)/pip install --quiet --require-hashes -r requirements/build.lock
	$(BIN)/pip install --quiet --require-hashes --no-build-isolation --use-pep517 -r requirements/runtime.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@$(BIN)/python -c 'import matplotlib.font_manager' # lists this machine's fonts, which takes seconds the first time
	@touch $@

$(addprefix $(VENV)/.installed-,dev images torch cluster docs): $(VENV)/.installed-%: $(VENV)/.installed requirements/%.lock
	$(BIN)/pip install --quiet --require-hashes --no-build-isolation --use-pep517 -r requirements/$*.lock
	@touch $@

$(VENV)/.installed-peers: $(VENV)/.installed requirements/peers.lock
	$(BIN)/pip install --quiet --require-hashes -r requirements/peers-build.lock
	$(BIN)/pip install --quiet --require-hashes --no-build-isolation --use-pep517 -r requirements/peers.lock
	@touch $@

docs: setup-docs
	$(BIN)/sphinx-build --quiet --write-all --fail-on-warning --keep-going --conf-dir docs . docs/_build
	@echo 'docs/_build/index.html'

check:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/zizmor --quiet --offline --persona pedantic .github

UPGRADE =
LOCK := uv pip compile $(UPGRADE) --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
lock:
	$(LOCK) pyproject.toml --output-file requirements/runtime.lock
	$(LOCK) --group build --constraint requirements/runtime.lock --output-file requirements/build.lock
	$(LOCK) --group dev pyproject.toml --constraint requirements/runtime.lock --output-file requirements/dev.lock
	$(LOCK) --group peers-build --constraint requirements/dev.lock --output-file requirements/peers-build.lock
	$(LOCK) --group peers pyproject.toml --constraint requirements/dev.lock --output-file requirements/peers.lock
	$(LOCK) --group cluster pyproject.toml --constraint requirements/dev.lock --output-file requirements/cluster.lock
	$(LOCK) --group docs --constraint requirements/dev.lock --output-file requirements/docs.lock
	$(LOCK) --extra images pyproject.toml --constraint requirements/dev.lock --output-file requirements/images.lock
	$(LOCK) --group torch --constraint requirements/dev.lock --constraint requirements/images.lock --output-file requirements/torch.lock

# Deletes results, figures and processed data, but not downloads (data/raw), features (data/features) or .venv.
clean:
	rm -rf results figures data/processed .snakemake
