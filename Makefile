# Every target makes what it needs; only Python 3.11 or newer with venv is assumed.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-fast test-long check bench bench-paper calibration soak fuzz compat postgresql screenshots clean

.venv/ready: pyproject.toml deploy/constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --constraint deploy/constraints.txt --editable '.[dev]'
	touch .venv/ready

demo: .venv/ready ## a real assessment from start to decision (--by-hand, --keep: make demo ARGS=--keep)
	$(BIN)/assay demo $(ARGS)

# Most of the time of a test with servers is waiting, so there are more at once than cores; threads
# of numpy's beside them only wait for each other.
TESTS_AT_ONCE ?= 4
# What starts servers or simulates lies in the other folders, or is marked.
FAST := tests/core tests/connector tests/worker tests/report tests/test_docs.py tests/test_layers.py tests/test_samples.py \
	worker/core
test-fast: .venv/ready ## what needs no server and simulates nothing, in three to four minutes
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m "not (slow or long or live or server)" $(FAST) $(ARGS)

test: .venv/ready ## what guards a landing, with a real Label Studio and a real Valkey; simulations in short
	$(BIN)/python -m tests.machine
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(TESTS_AT_ONCE) --dist loadfile --no-loadscope-reorder $(ARGS)

test-long: .venv/ready ## hours: simulations whole, deployment for real, fault run, fuzz, compatibility
	$(BIN)/python -m tests.machine --long
	ASSAY_SLOW=1 $(MAKE) test
	ASSAY_SLOW=1 $(BIN)/python -m pytest -m long $(ARGS)
	$(MAKE) soak fuzz compat postgresql

check: .venv/ready ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready ## the numbers of tests/bench/README.md, as measured here
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench $(ARGS)

bench-paper: .venv/ready ## the paper's tables beside Assay's, as a page under .assay (ARGS="--ours 200": hours)
	$(BIN)/python -m tests.bench.paper $(ARGS)

calibration: .venv/ready ## every number that is published, tried on truths of many kinds (ARGS="--processes 2"; --short)
	$(BIN)/python -m tests.calibration $(ARGS)

soak: .venv/ready ## ten minutes of faults against real servers (ARGS="--minutes 2 --seed 5"; --broken must fail)
	$(BIN)/python -m tests.soak $(ARGS)

postgresql: .venv/ready ## Label Studio on Debian's PostgreSQL (make test-long installs it): its tests, the faults with eight people
	ASSAY_TEST_DATABASE=postgresql $(BIN)/python -m pytest -n $(TESTS_AT_ONCE) --dist loadfile tests/contract tests/live
	ASSAY_TEST_DATABASE=postgresql $(BIN)/python -m tests.soak --people 8 --think 8 $(ARGS)

FUZZ_S ?= 60
fuzz: .venv/ready ## what coverage leads to, thrown at all that reads what others wrote (FUZZ_S=60 s for each target)
	$(BIN)/python -m pip install --quiet 'atheris>=3,<4'
	for target in annotation webhook plan predictions export header state; do \
		$(BIN)/python -m tests.fuzz.atheris_run $$target .assay/fuzz/$$target -max_total_time=$(FUZZ_S) || exit 1; \
	done

compat: .venv/ready ## oldest and newest libraries, Pythons, servers, Label Studio, as a table (ARGS="libraries servers")
	$(BIN)/python -m tests.compat $(ARGS)

screenshots: .venv/ready ## the README's pictures, of a real assessment (needs Chromium; some five minutes)
	$(BIN)/python -m tests.screenshots

clean: ## remove what the other targets made here (not the cache of Label Studio)
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
