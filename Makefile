# Two commands are all that a newcomer needs: `make lab` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PIP    := $(BIN)/python -m pip --disable-pip-version-check install
NB     ?= notebooks/*.ipynb
WHEELS := build/wheelhouse

.PHONY: help lab spark test soak run notebooks book browse pictures bench mutation lint lock conformance binder-check wheelhouse clean
help:  ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 15

lab: $(READY)  ## open JupyterLab on the welcome notebook
	@$(BIN)/kafkalearn lab

spark: $(VENV)/.ready-spark  ## for who uses Spark often: from now on it starts, and answers, some 6 s sooner (a minute, once)

# --nbval makes a test of each notebook cell: its output must be the stored one. See tests/sharing.py for what runs together.
test: $(READY) $(VENV)/.ready-spark lint  ## every test: package, notebooks, Spark, a real browser
	$(BIN)/python -m pytest -n 2 \
	  --nbval --nbval-sanitize-with tests/notebooks/sanitize.cfg tests notebooks

soak: $(READY)  ## random groups with faults until a promise breaks, or Ctrl-C (FIRST=17 RUNS=1000 SECONDS=60)
	@$(BIN)/python -m tests.whole_groups $(if $(FIRST),--first $(FIRST)) $(if $(RUNS),--runs $(RUNS)) $(if $(SECONDS),--seconds $(SECONDS))

run: $(READY)  ## execute all notebooks that need no Spark into build/, in parallel
	@$(BIN)/kafkalearn run

notebooks: $(READY)  ## for authors: execute notebooks and store clean outputs (NB=notebooks/41*.ipynb)
	@$(BIN)/python -m tests.notebooks.navigation
	@$(BIN)/python -m tests.notebooks.clean $(NB)

book: $(READY)  ## a static site of all lessons, whose steppers step with no kernel, into build/book
	@$(BIN)/kafkalearn book

browse: $(READY)  ## open every notebook in a real JupyterLab and run it (minutes)
	BROWSE=all $(BIN)/python -m pytest -n 2 tests/browser/test_notebooks.py

pictures: $(READY)  ## each view as it looks, light and dark, into build/pictures
	@$(BIN)/python -m tests.browser.pictures

bench: $(VENV)/.ready-bench  ## measure, side by side with the peers
	@$(BIN)/python -m tests.bench

# SAMPLE=100 SEED=1 PACKAGE=broker: so many of that package's mutants, chosen by chance. All take a night or two.
mutation: $(VENV)/.ready-bench  ## which share of all mutants the tests kill; survivors into build/mutation.md (SAMPLE=100: minutes)
	@$(BIN)/python -m tests.mutation $(PACKAGE) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED))

VECTORS ?= tests/conformance/vectors
conformance: $(READY)  ## play what Kafka's own coordinators answered to ours (VECTORS=DIR for other recordings)
	@$(BIN)/python -m tests.conformance $(VECTORS)

lint: $(READY)  ## ruff and mypy --strict
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

# Where a wheelhouse for this very lock lies, nothing is fetched from anywhere.
OFFLINE = $(shell cmp -s requirements.lock $(WHEELS)/requirements.lock && echo --no-index --find-links $(WHEELS))

# .ready stands only for an environment that was made to the end: without it, the next try starts afresh.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(f"Python 3.11 or newer is needed; this is {v[0]}.{v[1]}. Try: make PYTHON=python3.12 lab" if v < (3, 11) else 0)'
	@test -e $@ && echo "Bringing $(VENV) up to date with requirements.lock: seconds, if little changed." \
	  || echo "Making $(VENV) from requirements.lock: 3 to 5 minutes and 1.5 GB, once."
	@test -e $@ || $(PYTHON) -m venv --clear $(VENV)
	@rm -f $@
	@test -z "$(OFFLINE)" || echo "No network is used: packages come from $(WHEELS), made with $$(cat $(WHEELS)/made-with)."
	$(PIP) $(OFFLINE) --require-hashes -r requirements.lock
	$(PIP) $(OFFLINE) --quiet --no-deps -e .
	@touch $@

$(VENV)/.ready-spark: $(READY)
	@echo "Making an archive of the classes that Spark needs: a minute, once."
	@-$(BIN)/python -m kafkalearn.spark.class_archive && touch $@

# The lock knows no build tools: kafkalearn itself and packages without a wheel need those of the last line.
wheelhouse: $(READY)  ## for a room with no network: all packages into build/wheelhouse, where `make lab` finds them
	@rm -f $(WHEELS)/requirements.lock
	$(BIN)/python -m pip --disable-pip-version-check download --no-deps --require-hashes -r requirements.lock -d $(WHEELS)
	$(BIN)/python -m pip --disable-pip-version-check download hatchling editables setuptools wheel -d $(WHEELS)
	@$(BIN)/python --version > $(WHEELS)/made-with
	@cp requirements.lock $(WHEELS)

$(VENV)/.ready-bench: $(READY) requirements-bench.lock
	@echo "Adding the peers of the benchmarks: a few seconds."
	$(PIP) --quiet --require-hashes -r requirements-bench.lock
	@touch $@

# uv writes one lock for every system and Python; it names no place that packages come from.
lock:  ## compile the lock files anew from pyproject.toml (needs uv)
	uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
	  --extra lab --extra spark --extra grade --extra test -o requirements.lock
	uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
	  --extra bench -c requirements.lock -o requirements-bench.lock

binder-check: $(READY)  ## replay Binder's build without Docker, in an environment of its own (minutes)
	bash tests/binder_check.sh

clean:  ## remove what was built, but not the environment
	rm -rf build .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse
