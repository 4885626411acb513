# Every target makes the environment it needs; nothing but Python 3.11+, make and the package index is assumed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo check test test-slow docs bench bench-quality format clean

demo: $(VENV)/.core
	$(BIN)/headrank demo --out demo --overwrite

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

test: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist loadscope

test-slow: $(VENV)/.dev
	$(BIN)/pytest -m slow

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -E -W --keep-going -q -b html docs docs/_build

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/measures.py
	$(BIN)/python benchmarks/solvers.py
	$(BIN)/python benchmarks/smooth.py
	$(BIN)/python benchmarks/bounds.py
	$(BIN)/python -m experiments.run_time --out bench
	$(BIN)/python -m experiments.convergence --out bench
	$(BIN)/python -m experiments.widths --out bench
	$(BIN)/python -m experiments.coverage --out bench

# An hour or two; it can be stopped and goes on where it was. QUALITY="--quick" takes minutes.
bench-quality: $(VENV)/.dev
	$(BIN)/python benchmarks/quality.py --jobs 2 $(QUALITY)

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) demo bench docs/_build docs/api docs/gallery

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) --editable '.[test,check]'
	@touch $@

$(VENV)/.docs: $(VENV)/.core
	$(PIP) --editable '.[docs]'
	@touch $@
