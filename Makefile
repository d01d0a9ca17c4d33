# Everything runs in .venv, which `make install` makes. Start with `make demo` or `make test`.

PYTHON ?= python3
JOBS   ?= 2
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
EXTRAS := shapes,images,meshes,xarray,cluster,parquet

# One BLAS thread per process: the factorisations are small, and the parallelism is between test workers.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export MPLBACKEND := Agg
# Tests start two dozen processes: they read bytecode instead of making it each time.
unexport PYTHONDONTWRITEBYTECODE
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
SECONDS ?= 600
.PHONY: help install demo test quick-tests test-all test-browser fuzz check lint types layers docs wheel bench gallery reproduction format clean distclean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

install: $(STAMP) ## make .venv with the package (editable) and the developer's tools

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "jumpnet needs Python 3.11 or newer; say which one with: make install PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "python3 -m venv failed; on Debian and Ubuntu install the package python3-venv."; exit 1; }
	@echo "installing jumpnet and its tools into $(VENV) (a minute or two, once)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --upgrade 'pip>=25.1' # the first with --group
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[$(EXTRAS)]' --group dev
	@$(BIN)/python -m compileall -q src # as pip does for packages that are not editable
	@touch $@

demo: install ## solve a drawing and a problem of the paper; reports and pictures go to demo-output/
	$(BIN)/jumpnet demo -o demo-output

# A whole file goes to one worker, as its tests share what was solved and compiled; tests/conftest.py says which first.
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

# Two things at a time: pyright and the docs build keep one core busy for as long as a third of the tests.
test: install ## all checks, and beside them the tests that are not slow (6 minutes on 2 cores)
	@$(MAKE) --no-print-directory -j2 lint types quick-tests layers docs

quick-tests: install
	$(PYTEST) -m "not slow and not browser"

test-all: check ## all checks, then every test, compiled with all optimisations
	JUMPNET_TEST_OPTIMISED=1 $(PYTEST) -m "not browser"

test-browser: install ## the reports in chromium, which is installed from Debian if it is missing
	tests/browser/install
	$(BIN)/python -m pytest -m browser tests/browser

fuzz: install ## hostile inputs for every reader, SECONDS=600 for each; findings go to tests/fuzz/corpus
	$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS)

check: lint types layers docs ## ruff, pyright, import layers, docs build

lint: install ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install ## pyright on src
	$(BIN)/pyright

layers: install ## no layer imports from one above it
	$(BIN)/lint-imports --no-logo

wheel: install ## build sdist and wheel into dist/, install the wheel into an environment of its own, run the demo there
	rm -rf dist build/wheel
	$(BIN)/python -m build --no-isolation --outdir dist
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install -qq --disable-pip-version-check dist/*.whl
	cd build && wheel/bin/jumpnet demo -o demo-output

docs: install ## build the documentation into site/
	$(BIN)/mkdocs build --strict --quiet

bench: install ## measure speed and accuracy beside others; into bench-output/ (BENCH=--quick: two minutes)
	$(BIN)/jumpnet bench -o bench-output $(BENCH)

gallery: install ## solve and draw every example for the documentation (a minute)
	$(BIN)/python examples/gallery.py

reproduction: install ## every table and figure of the paper, into docs/ (hours; goes on where it was interrupted)
	$(BIN)/jumpnet reproduce all --setting both -o results $(REPRODUCE)
	mkdir -p docs/reproduction
	cp results/reproduction.md docs/
	cp results/reproduction/*.png docs/reproduction/

format: install ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove what was built or cached, but keep .venv
	rm -rf site demo-output bench-output dist build .pytest_cache .ruff_cache .hypothesis .benchmarks .import_linter_cache
	find src tests benchmarks examples -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean ## clean, and remove .venv
	rm -rf $(VENV)
