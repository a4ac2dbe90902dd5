# `make` sets everything up and runs the quick tier; `make test` runs the tests.
# Requirements: Python 3.11–3.13 and make. `make help` lists the targets.

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
CORES ?= all
TIER ?= quick
SITE ?= results/$(TIER)/site
NEWEST ?= python3.13
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)
# Halves of the list of tests, so that fixtures are made once, until a process has
# nothing left to do.
PYTEST := $(BIN)/pytest -n auto --dist worksteal

.DEFAULT_GOAL := quick
.PHONY: quick paper publish rejudge site install test test-all test-newest wheels release cluster lint types format check \
	benchmark benchmark-against benchmark-tier faults mutants verify nightly audit lock clean-results help

quick: $(INSTALLED) ## run the quick tier (default); report: results/quick/report.html
	@$(BIN)/mtmkl datasets fetch --small
	$(SNAKEMAKE)

paper: $(INSTALLED) ## run the papers' full protocols; needs their data
	$(SNAKEMAKE) --config tier=paper

publish: $(INSTALLED) ## copy the paper tier's record and artefacts to figures/; build results/paper/site
	$(SNAKEMAKE) publish --config tier=paper
	@$(MAKE) --no-print-directory site TIER=paper

rejudge: $(INSTALLED) ## tables, verdicts and claims anew from the scores in figures/
	# Tables of the main run say what readings reach, so these come first.
	$(SNAKEMAKE) rejudge --config tier=paper readings=True
	$(SNAKEMAKE) rejudge --config tier=paper

# Site and report of a run are beside each other and link to each other. What the report
# links to is decided when it is written, so it is written again.
site: $(INSTALLED) ## build the documentation; site: results/quick/site/index.html (TIER=paper: results/paper)
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -j auto \
		--conf-dir docs --doctree-dir results/site.doctrees \
		$(if $(wildcard $(dir $(SITE))report.html),-A report=yes) . $(SITE)
	@if [ "$(SITE)" = results/$(TIER)/site ] && [ -f results/$(TIER)/report.html ]; then \
		$(SNAKEMAKE) --config tier=$(TIER) --allowed-rules report --forcerun report \
			-- results/$(TIER)/report.html; \
	fi
	@echo "Documentation: $(SITE)/index.html"

install: $(INSTALLED) ## only create .venv from requirements.lock

test: $(INSTALLED) ## run the tests but the nightly ones
	$(PYTEST)

test-all: $(INSTALLED) ## run the nightly tests as well: sweeps, seeds, further runs of the workflow
	$(PYTEST) -m "nightly or not nightly"

# Another interpreter has an environment of its own.
test-newest: ## install into .venv-3.13 and run the tests there; NEWEST=/path/to/python3.13
	$(MAKE) --no-print-directory VENV=.venv-3.13 PYTHON=$(NEWEST) test

wheels: $(INSTALLED) ## build wheel and sdist, try the wheel in empty environments of Python 3.11 and 3.13
	$(BIN)/pytest -m "nightly or not nightly" tests/workflow/test_wheel.py

release: $(INSTALLED) ## write ro-crate-metadata.json and codecheck.yml for the record; wheel and sdist to dist/
	$(BIN)/python -m mtmkl_suite.report.research_object
	$(BIN)/python -m hatchling build -d dist

cluster: $(INSTALLED) ## test the workflow on a SLURM cluster of this machine (Debian: slurm-wlm, munge; root)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		snakemake-executor-plugin-slurm==2.8.0
	$(BIN)/pytest tests/cluster

lint: $(INSTALLED) ## check style: ruff, snakefmt, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

types: $(INSTALLED) ## check types: mypy
	$(BIN)/mypy

format: $(INSTALLED) ## format the code as `make lint` expects
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow

check: lint types test ## style, types and tests

benchmark: $(INSTALLED) ## speed against other packages, to figures/benchmarks: half an hour
	$(BIN)/python benchmarks/run.py $(BENCHMARK)

benchmark-against: $(INSTALLED) ## the same to results/, naming the ratios that fell by a third
	$(BIN)/python benchmarks/run.py --output results/benchmarks \
		--against figures/benchmarks $(BENCHMARK)

benchmark-tier: $(INSTALLED) ## how long the published record took, by experiment
	$(BIN)/python benchmarks/paper_tier.py

# FAULTS=kills runs those of one module; FAULTS="kills --trials 3" a few of them.
faults: $(INSTALLED) ## kill, damage, fill up, mislead: less than an hour; table: figures/faults/faults.csv
	PYTHONPATH=tests:tests/support:tests/workflow $(BIN)/python -m faults $(FAULTS)

mutants: $(INSTALLED) ## change 200 statements at random: do the tests of their modules notice? hours
	$(BIN)/python tests/support/mutants.py $(MUTANTS)

verify: $(INSTALLED) ## compute 300 cells of the published record anew; VERIFY="--cells 20 --seed 7"
	$(BIN)/mtmkl verify --minutes 30 --cores 2 $(VERIFY)

# With --keep-going one that fails does not keep the others from running.
nightly: test-all faults verify benchmark-against mutants ## all that takes long: make --keep-going nightly

# By hand, as it asks a database on the network (AUDIT="--vulnerability-service osv": another
# one). Without one it fails: that nothing was found and nothing was asked are not the same.
audit: $(BIN)/pip ## look up the locked packages among known vulnerabilities (needs the network)
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
		$(BIN)/python -m venv "$$folder/venv" && \
		"$$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pip-audit>=2.7" && \
		"$$folder/venv/bin/pip-audit" --requirement requirements.lock --require-hashes \
			--disable-pip --strict --progress-spinner off $(AUDIT)

lock: $(INSTALLED) ## resolve requirements.lock from pyproject.toml (needs the network; LOCK_FLAGS=--upgrade)
	$(BIN)/uv pip compile --universal --extra dev --generate-hashes \
		--no-emit-index-url --python-version 3.11 --quiet \
		--custom-compile-command "make lock" $(LOCK_FLAGS) \
		pyproject.toml -o requirements.lock

clean-results: ## delete results, logs and the cache of finished cells
	rm -rf results .snakemake

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' Makefile

.DEFAULT:
	@echo "make: there is no target '$@'; the targets:" >&2
	@$(MAKE) --no-print-directory help >&2
	@exit 2

# PYTHON=/path/to/python sets the interpreter of a new .venv; by default the first
# suitable one is used. Each candidate is tried, because a command that exists may still
# fail (pyenv's shims). An existing .venv is kept: delete it to change the interpreter.
SUPPORTED := (3, 11) <= sys.version_info[:2] <= (3, 13)
CANDIDATES := $(or $(PYTHON),python3 python3.13 python3.12 python3.11)

$(BIN)/pip:
	@for python in $(CANDIDATES); do \
		if "$$python" -c 'import sys; sys.exit(not ($(SUPPORTED)))' 2>/dev/null; then \
			if "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
				echo "Creating $(VENV) with $$("$$python" --version)"; \
				exec "$$python" -m venv --clear $(VENV); \
			fi; \
			echo "$$python cannot create environments: it lacks the module venv" \
				"or ensurepip (on Debian and Ubuntu: package python3-venv)." >&2; \
		fi; \
	done; \
	echo "No usable Python 3.11, 3.12 or 3.13 among: $(CANDIDATES)." \
		"Install one, or name it: make PYTHON=/path/to/python3.12" >&2; \
	exit 1

# The marker is written last, so that an interrupted installation is run again.
# uv takes a fifth of pip's time, but knows nothing of pip's settings: behind a mirror that
# only pip is told of, pip installs. Neither compiles: pip would do so one file after another,
# including packages' tests. Compiling at first import does not work if PYTHONDONTWRITEBYTECODE is set: every job
# would then compile all its imports again.
$(INSTALLED): requirements.lock pyproject.toml | $(BIN)/pip
	@echo "Installing the locked packages into $(VENV): up to a minute"
	@sed -n '/^uv==/,/#/p' requirements.lock >$(VENV)/uv.txt
	@$(PIP) --require-hashes --requirement $(VENV)/uv.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python \
		--require-hashes --requirement requirements.lock || \
		$(PIP) --require-hashes --requirement requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib src || true
	@$(BIN)/python -m mtmkl.compile
	@touch $@
