# Two commands do everything: `make lab` and `make test`. The plain pip lines for other systems are in README.md.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY := $(VENV)/.ready
READY_CLASS := $(VENV)/.ready-class
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)
AT := $(if $(PORT),--port=$(PORT) --ServerApp.port_retries=0) $(if $(filter no,$(BROWSER)),--no-browser --LabApp.default_url=/lab/tree/00_start_here.ipynb)
LESSONS ?= $(wildcard notebooks/*.ipynb)
TESTS ?= tests
JSON ?= build/bench.json
SECONDS ?= 600
LIVE = $(firstword $(wildcard $(LESSON) notebooks/$(LESSON)*.ipynb))
CHANGED = $(shell git status --porcelain --untracked-files=all notebooks/*.ipynb | awk '{print $$2}')

# What is tested, stored and published knows nothing of a student's own library.
test unit near fuzz mutants lessons notebooks portable slides site sheets hosted playground instructor browser-test: export TRANSFORMER_LIB_MINE := off

.DEFAULT_GOAL := help
.PHONY: help setup lab test lint unit near fuzz mutants tables data-test lessons notebooks portable bench slides present site sheets hosted playground instructor browser-test format clean

help:  ## list the targets, a line each
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "$(PYTHON) is missing or older than 3.11: $$($(PYTHON) --version 2>&1)."; \
	  echo "Install Python 3.11 or later (python.org, or: apt install python3 python3-venv), or name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments. Install its venv module (Debian, Ubuntu: apt install python3-venv)."; exit 1; }
	@echo "Installing into $(VENV) (1.5 GB, two to ten silent minutes; more where torch comes with CUDA)."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements.txt
	@$(BIN)/jupyter labextension disable --level=sys_prefix "@jupyterlab/apputils-extension:announcements" >/dev/null 2>&1
	@touch $(READY)

$(READY_CLASS): $(READY) requirements-class.txt
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements.txt -r requirements-class.txt
	@mkdir -p $(VENV)/etc/jupyter/labconfig  # a theme that asks no one for its fonts
	@echo '{"jupyterlab-rise:plugin": {"theme": "serif"}}' > $(VENV)/etc/jupyter/labconfig/default_setting_overrides.json
	@touch $(READY_CLASS)

setup: $(READY)  ## create .venv and install requirements.txt (nothing happens when nothing changed)

lab: setup  ## open JupyterLab on the first lesson (on a server: PORT=8890 BROWSER=no)
ifeq ($(BROWSER),no)
	@echo "Open the address below that begins with http://127.0.0.1:$(or $(PORT),8888); its token is the key."
	@echo "From a machine of yours run first: ssh -L $(or $(PORT),8888):127.0.0.1:$(or $(PORT),8888) you@this-server"
endif
	$(BIN)/jupyter lab --ip=127.0.0.1 $(AT) $(ROOT_FLAG) $(LAB_FLAGS) notebooks/00_start_here.ipynb

test: setup  ## lint, unit tests, and every lesson re-executed and compared, in two processes
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --ignore tests/browser --nbval notebooks tests

lint: setup  ## ruff and codespell over code and notebooks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell --skip "*/vendor/*,*/tokens.css" transformer_lib tests notebooks README.md CONTRIBUTING.md

unit: setup  ## the unit tests alone (TESTS=tests/test_masks.py for some, in seconds)
	$(BIN)/python -m pytest $(if $(filter tests,$(TESTS)),-n 2 --dist loadfile --ignore tests/browser) $(TESTS)

tables: setup  ## write README's route, CONTRIBUTING's map and what is graded anew, from lessons and code
	$(BIN)/python tests/tables.py

mutants: setup  ## fifteen lines of the core, broken one at a time: each must turn a test red (RANDOM=15 SEED=0 for others)
	$(BIN)/python tests/mutants.py $(if $(RANDOM),--random $(RANDOM)) $(if $(SEED),--seed $(SEED))

data-test: setup  ## the grammar that wrote data/grammar: its rules, and that it writes the same again
	$(BIN)/python -m pytest -o pythonpath="tests data" data/bilingual

fuzz: setup  ## what must hold of any input, tried on random ones (SECONDS=600; ONLY=a_property for one)
	$(BIN)/python tests/fuzz.py --seconds $(SECONDS) $(if $(ONLY),--only $(ONLY))

near: setup  ## the unit tests nearest to what changed since the last commit, in a minute (FILES=transformer_lib/attention.py)
	$(BIN)/python tests/near.py $(FILES)

lessons: setup  ## the lessons alone, re-executed and compared (LESSONS=notebooks/15_translation.ipynb for one)
	$(BIN)/python -m pytest $(if $(word 2,$(LESSONS)),-n 2 --dist loadfile) --nbval tests/conftest.py $(LESSONS)

notebooks: LESSONS := $(if $(filter file,$(origin LESSONS)),$(CHANGED),$(LESSONS))
notebooks: setup  ## execute the lessons changed since the last commit in place, as CI will see them (LESSONS=... for others)
	@test -n "$(LESSONS)" || { echo "No lesson has changed. For all of them: make notebooks LESSONS='notebooks/*.ipynb'"; exit 1; }
	TQDM_DISABLE=1 OMP_NUM_THREADS=1 $(BIN)/jupyter nbconvert --to notebook --inplace --execute $(LESSONS)

portable: LESSONS := $(if $(filter file,$(origin LESSONS)),,$(LESSONS))
portable: setup  ## the lessons changed since the last commit on the kernels of an old processor (LESSONS=... for others; ALL=1: everything, an hour)
	$(BIN)/python tests/portable.py $(LESSONS) $(if $(ALL),--all)

bench: setup  ## our speed relative to torch.nn and d2l, one table, on a quiet machine (minutes; NAMES="decoding imports" for some)
	@mkdir -p build
	$(BIN)/python tests/benchmarks $(NAMES) --json $(JSON)

slides: setup  ## every lesson as a self-contained deck in build/slides (LESSONS=notebooks/03_... for one)
	$(BIN)/python -m transformer_lib.publish slides $(LESSONS)

present: $(READY_CLASS)  ## a lesson as live slides, code and all (LESSON=03; installs jupyterlab-rise)
	@test -f "$(LIVE)" || { echo "Which lesson? For instance: make present LESSON=03"; exit 1; }
	$(BIN)/jupyter lab --ip=127.0.0.1 $(ROOT_FLAG) $(LAB_FLAGS) --LabApp.default_url=/rise/$(LIVE)

site: setup  ## all lessons as a web site in build/site that needs no server and no network
	$(BIN)/python -m transformer_lib.publish site

sheets: setup  ## each lesson's closing sheet on one page, and all as a booklet to print, in build/sheets
	$(BIN)/python -m transformer_lib.publish sheets $(LESSONS)

hosted: setup  ## the lessons for Colab and Kaggle, and the wheel that they install, in build/hosted
	$(BIN)/python -m transformer_lib.publish hosted $(LESSONS)

playground: setup  ## one page in which your sentence runs through the shipped model, in build/playground
	$(BIN)/python -m transformer_lib.publish playground

instructor: setup  ## notebooks with solutions and notes, executed, and a teaching plan, in build/instructor
	TQDM_DISABLE= OMP_NUM_THREADS=1 $(BIN)/python -m transformer_lib.publish instructor $(LESSONS)

browser-test: $(READY_CLASS)  ## JupyterLab, slides and site driven in the system's Chromium (not part of make test)
	$(BIN)/python -m pytest -n 2 --dist worksteal tests/browser

format: setup  ## let ruff mend and format code and notebooks
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

clean:  ## remove .venv, build and every cache
	rm -rf $(VENV) build .pytest_cache .ruff_cache *.egg-info && find . -name __pycache__ -prune -exec rm -rf {} +
