# Two commands are all that a newcomer needs: `make lab` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: help lab test run bench lint lock clean
help:  ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

lab: $(READY)  ## open JupyterLab on the welcome notebook
	$(BIN)/kafkalearn lab

test: $(READY)  ## every test: package, notebooks, Spark, a real browser
	$(BIN)/python tests/run_all.py

run: $(READY)  ## execute all notebooks into build/, in parallel
	$(BIN)/kafkalearn run

bench: $(VENV)/.ready-bench  ## measure, side by side with the peers
	$(BIN)/python -m tests.bench

lint: $(READY)  ## ruff and mypy --strict
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

# .ready is touched last, so an install that was interrupted is done again.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(f"Python 3.11 or newer is needed; this is {v[0]}.{v[1]}. Try: make PYTHON=python3.12 lab" if v < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --progress-bar on --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/.ready-bench: $(READY) requirements-bench.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-bench.lock
	@touch $@

# uv writes one lock for every system and Python; it names no place that packages come from.
lock:  ## compile the lock files anew from pyproject.toml (needs uv)
	uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
	  --extra lab --extra spark --extra grade --extra test -o requirements.lock
	uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
	  --extra bench -c requirements.lock -o requirements-bench.lock

clean:  ## remove what was built, but not the environment
	rm -rf build .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse
