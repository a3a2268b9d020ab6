# Needs only Python 3.11+, make and git. `make` alone lists the targets. Works with GNU make 3.81 (macOS) and newer.

BIN = .venv/bin
SUBMISSION = solutions/cue_reader
PHASE = practice
# Extra groups of packages from requirements/: lint, browser, cluster, croissant, filmed, mutation.
WITH =
COMPILE = $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 --fork-strategy fewest
# Keep compiled files even if the environment forbids them: the tests import everything in several processes.
COMPILED = PYTHONDONTWRITEBYTECODE=
# Extra arguments, e.g. make test ARGS="-k leaderboard"
ARGS =

.DEFAULT_GOAL := help
lint format: WITH = lint
filmed: WITH = filmed
test-all: WITH = browser cluster croissant filmed lint
screenshots: WITH = browser
mutate: WITH = mutation
.PHONY: help setup demo filmed test test-all check build lint format mutate screenshots bench lock clean

help: ## list the targets
	@echo "First Impressions, Explained: make TARGET"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' Makefile

setup: ## make .venv with the locked packages and the bundle command; PYTHON=/path/to/python3.12 chooses the Python
	@PYTHON="$(PYTHON)" sh bundle_tools/set_up.sh $(WITH)

demo: setup ## run the cue_reader solution on the practice phase; print its scores and its report
	@$(BIN)/bundle run $(SUBMISSION) --phase $(PHASE) $(ARGS)

filmed: setup ## try a challenge with films of real people, in filmed/; ARGS="--clips DIR" takes your own
	@$(BIN)/bundle data filmed-example filmed $(ARGS)

test: setup ## run the tests that need only Python, on all processor cores
	@$(COMPILED) $(BIN)/pytest -n auto $(ARGS)

test-all: setup ## run all tests, including long ones and those that need Chromium, Docker or npm
	@$(COMPILED) $(BIN)/pytest -n auto --all $(ARGS)

check: setup ## list everything that is wrong with the bundle
	@$(BIN)/bundle check $(ARGS)

build: setup ## write dist/bundle.zip, ready to upload
	@$(BIN)/bundle build $(ARGS)

lint: setup ## check format, style, types and the language of pages and guides
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy .
	@$(BIN)/python docs/style/check.py

format: setup ## format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix --quiet . || true

mutate: setup ## list what no test notices when code breaks; tests/mutation.toml names the code (git restore it after a kill)
	@mkdir -p build
	@rm -f build/mutants.sqlite
	@$(BIN)/cosmic-ray init tests/mutation.toml build/mutants.sqlite
	@$(BIN)/cr-filter-operators build/mutants.sqlite tests/mutation.toml
	@$(BIN)/cosmic-ray exec tests/mutation.toml build/mutants.sqlite
	@$(BIN)/cr-report --surviving-only --show-diff build/mutants.sqlite

bench: setup ## measure speed and memory
	@set -e; for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python "$$script" $(ARGS); done

screenshots: setup ## take pictures of reports and pages for a visual check (needs Chromium)
	@$(BIN)/python docs/images/make.py $(ARGS)

lock: setup ## lock the newest versions of all packages
	@$(BIN)/python -m pip --disable-pip-version-check install --quiet --require-hashes -r requirements/set_up.lock
	$(COMPILE) --upgrade requirements/set_up.in -o requirements/set_up.lock
	$(COMPILE) --upgrade pyproject.toml -o ingestion_program/requirements.lock
	$(COMPILE) --upgrade -c ingestion_program/requirements.lock scoring_program/requirements.in -o scoring_program/requirements.lock
	$(COMPILE) --upgrade -c ingestion_program/requirements.lock --extra dev pyproject.toml -o requirements/dev.lock
	for group in browser cluster croissant lint mutation; do $(COMPILE) --upgrade -c requirements/dev.lock requirements/$$group.in -o requirements/$$group.lock || exit; done
	$(COMPILE) --no-deps --upgrade requirements/filmed.in -o requirements/filmed.lock
	$(COMPILE:--universal=--python-platform x86_64-manylinux_2_28) --upgrade -c ingestion_program/requirements.lock requirements/gpu.in -o requirements/gpu.lock

clean: ## remove what the commands made, except .venv
	rm -rf build dist filmed runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
