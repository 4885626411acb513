# Every target makes the environment it needs; nothing but Python 3.11+, make and the package index is assumed.
PYTHON ?= python3
VENV   := .venv
LOWEST := .venv-lowest
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Compiled files are kept, whatever the environment says: without them every worker rewrites all tests, and every process
# that a test starts compiles the package again.
unexport PYTHONDONTWRITEBYTECODE

# Three processes keep two cores busy, also while one waits; threads of one would only wait for those of the others.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: demo check test test-slow test-processors test-lowest docs bench bench-quality bench-scale tables format clean

demo: $(VENV)/.core
	$(BIN)/headrank demo --out demo --overwrite

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

test: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/pytest -n 3 --dist loadfile

test-slow: $(VENV)/.dev
	$(BIN)/pytest -m slow

# What rests on linear algebra, as if on an older processor: other kernels of OpenBLAS, fewer vector instructions in NumPy.
# Trees and adapters rest on none.
NUMERIC := tests/reference tests/solvers tests/surrogates tests/estimators README.md docs --ignore=tests/estimators/trees --ignore=docs/integrations.md
test-processors: $(VENV)/.dev
	$(BIN)/python .ci/processors.py -n 2 --dist loadscope $(NUMERIC)

# The lowest versions that pyproject.toml allows, and no others.
test-lowest: $(LOWEST)/.dev
	$(LOWEST)/bin/python .ci/lowest.py --strict-versions
	$(ONE_THREAD) $(LOWEST)/bin/pytest -n 3 --dist loadfile

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -E -W --keep-going -q $(SPHINX) -b html docs docs/_build

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/measures.py
	$(BIN)/python benchmarks/metrics.py
	$(BIN)/python benchmarks/solvers.py
	$(BIN)/python benchmarks/smooth.py
	$(BIN)/python benchmarks/bounds.py
	$(BIN)/python benchmarks/wide_tables.py
	$(BIN)/python benchmarks/one_row.py
	$(BIN)/python -m experiments.run_time --out bench
	$(BIN)/python -m experiments.convergence --out bench
	$(BIN)/python -m experiments.widths --out bench
	$(BIN)/python -m experiments.coverage --out bench

# An hour or two; it can be stopped and goes on where it was. QUALITY="--quick" takes minutes.
bench-quality: $(VENV)/.dev
	$(BIN)/python benchmarks/quality.py --jobs 2 $(QUALITY)
	$(BIN)/python benchmarks/trees.py --jobs 2 $(TREES)

# Writes SCALE rows x 100 float32 features, 400 bytes each, to a temporary folder.
SCALE = 2e6
bench-scale: $(VENV)/.dev
	$(BIN)/python benchmarks/scale.py --rows $(SCALE) --dask

# The papers' tables and their page, docs/tables.md. Hours for what is missing; it can be stopped and goes on where it was.
# QUICK=1, in bench/tables-quick: 3 splits took 7 min 39 s of processor time, and as long with two jobs on a busy machine.
tables: $(VENV)/.dev
	$(BIN)/python -m experiments.tables --jobs 2 $(if $(QUICK),--quick) $(TABLES)

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) $(LOWEST) demo bench docs/_build docs/api docs/gallery

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[cli]'
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) --editable '.[test,check]'
	@touch $@

$(LOWEST)/.dev: pyproject.toml .ci/lowest.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) .ci/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST)/constraints.txt --editable '.[test]'
	@touch $@

$(VENV)/.docs: $(VENV)/.core
	$(PIP) --editable '.[docs]'
	@touch $@
