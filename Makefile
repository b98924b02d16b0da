# Every target makes what it needs; only Python 3.11 or newer with venv is assumed.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check bench bench-paper clean

.venv/ready: pyproject.toml deploy/constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint deploy/constraints.txt --editable '.[dev]'
	touch .venv/ready

demo: .venv/ready ## a real assessment from start to decision (--by-hand, --keep: make demo ARGS=--keep)
	$(BIN)/assay demo $(ARGS)

test: .venv/ready ## all tests, with a real Label Studio and a real Valkey
	$(BIN)/python -m pytest $(ARGS)

check: .venv/ready ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready ## the numbers of the README, as measured here
	$(BIN)/python -m tests.bench $(ARGS)

bench-paper: .venv/ready ## the paper's tables beside Assay's, as a page under .assay (ARGS="--ours 200": hours)
	$(BIN)/python -m tests.bench.paper $(ARGS)

clean: ## remove what the other targets made here (not the cache of Label Studio)
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
