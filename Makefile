# make demo    train, package, install and use zh_cnm_trf on real text
# make test    lint, types and the whole suite against the installed package
# Both make .venv and install into it when needed. PYTHON=python3.12 chooses another Python.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
SOURCES := $(shell find spacy_cnm -type f -not -name '*.pyc') setup.cfg pyproject.toml constraints.txt

.PHONY: demo test lint clean

demo: $(STAMP)
	$(BIN)/python -m spacy project run demo

test: lint
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadgroup

lint: $(STAMP)
	$(BIN)/ruff check spacy_cnm tests benchmarks
	$(BIN)/ruff format --check spacy_cnm tests benchmarks
	$(BIN)/mypy

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	touch $@

# A plain install, not an editable one: what is tested is what users get.
$(STAMP): $(VENV)/python $(SOURCES)
	rm -rf build spacy_cnm.egg-info
	$(BIN)/pip install --quiet --constraint constraints.txt '.[demo,figures,pretrain,test]'
	rm -rf build spacy_cnm.egg-info
	touch $@

clean:
	rm -rf $(VENV) build dist corpus encoder training metrics/*.json packages project.lock *.egg-info
