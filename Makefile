# Every target is self-contained: it makes .venv with MindSpore and the development tools when that is missing or
# older than pyproject.toml. Choose the interpreter with `make PYTHON=/path/to/python3.12 test`.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# The first that runs, has venv, and for which MindSpore publishes wheels; 3.13 only when there is no other.
CANDIDATES := python3.11 python3.12 python3.10 python3 python3.13
PYTHON ?= $(shell for p in $(CANDIDATES); do \
	$$p -c 'import ensurepip, sys, venv; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 14))' 2>/dev/null \
	&& command -v $$p && break; done)

# MindSpore 2.7.0 has no wheels for Python 3.12 and later.
OLDEST := .venv-oldest
OLDEST_PYTHON ?= $(shell for p in python3.11 python3.10 python3.9 python3; do \
	$$p -c 'import ensurepip, sys, venv; sys.exit(not (3, 9) <= sys.version_info[:2] < (3, 12))' 2>/dev/null \
	&& command -v $$p && break; done)

.PHONY: help demo test lint bench wheel docs vscode oldest clean
help:
	@echo "make demo   migrate a copy of examples/pynative_bert, print the diff and the verdicts"
	@echo "make test   the test suite, with the real compiler (ARGS='-k lsp' narrows it)"
	@echo "make lint   ruff and mypy"
	@echo "make bench  check: cost against ast.parse, agreement with the compiler; verify: speed against a process for each Cell"
	@echo "make wheel  build dist/*.whl"
	@echo "make docs   write the pages of rules and errors, build the documentation into site/"
	@echo "make oldest an environment with the oldest MindSpore, under which make test then proves fixtures too"
	@echo "make vscode check, test and package the VS Code extension (editors/vscode/graphward.vsix)"

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Graphward needs Python 3.10 to 3.13 with venv (Debian: apt-get install python3-venv)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all,dev]'
	@touch $@

demo: $(STAMP)
	@examples/demo.sh $(BIN)/graphward $(BIN)/python

test: $(STAMP)
	@$(BIN)/python -c 'import mindspore' 2>/dev/null || { \
	echo "$(VENV) cannot import MindSpore: remove it and choose another Python, as in make PYTHON=python3.11 test"; exit 1; }
	$(if $(wildcard $(OLDEST)/.installed),GRAPHWARD_TEST_PYTHON_27="$(CURDIR)/$(OLDEST)/bin/python") \
	GRAPHWARD_TEST_PYTHON="$(CURDIR)/$(BIN)/python" $(BIN)/python -m pytest -n 2 $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

# An environment with the oldest MindSpore that is supported; `make test` then proves fixtures under it too.
oldest:
	@if [ -z "$(OLDEST_PYTHON)" ]; then echo "skipped: MindSpore 2.7.0 needs Python 3.9 to 3.11 with venv"; \
	else $(MAKE) --no-print-directory $(OLDEST)/.installed; fi

$(OLDEST)/.installed:
	test -x $(OLDEST)/bin/python || $(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check mindspore==2.7.0 'numpy<2' setuptools
	@touch $@

bench: $(STAMP)
	$(BIN)/python -m benchmarks.check $(ARGS)
	$(BIN)/python -m benchmarks.verify
	$(BIN)/python -m benchmarks.agreement --real
	$(BIN)/python -m benchmarks.rewrite
	$(BIN)/python -m benchmarks.review
	$(BIN)/python -m benchmarks.lsp

wheel: $(STAMP)
	$(BIN)/python -m build --wheel --no-isolation

docs: $(STAMP)
	@$(BIN)/python -c 'import material' 2>/dev/null || \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python scripts/generate_docs.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Node 20 is what the packager needs.
vscode:
	@if ! command -v npm >/dev/null || ! node -e 'process.exit(+(parseInt(process.versions.node) < 20))'; then \
	echo "skipped: the VS Code extension needs Node.js 20 and npm, which are not installed"; else \
	cd editors/vscode && npm ci --no-audit --no-fund --loglevel=error && npm run --silent check && \
	npm run --silent build && npm run --silent test && npm run --silent package; fi

clean:
	rm -rf $(addprefix editors/vscode/,node_modules dist out graphward.vsix)
	rm -rf $(VENV) $(OLDEST) .cache dist build site .mypy_cache .pytest_cache .ruff_cache
