# Everything a bare Debian 12 with Python 3.11 and make needs, one command each.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
.PHONY: help run test lint bench clean clean-data chromium readers
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
BASE := $(VENV)/.base-installed
DEV := $(VENV)/.dev-installed
# Tests and checks have a database of their own, so that a running demo is not disturbed.
TEST_DATA := .data-test
DATABASE := $(PY) -m config.embedded_postgres

# An interpreter that is gone (an upgraded system, a copied checkout) takes its packages along.
ifneq ($(shell $(PY) -c 'print("works")' 2>/dev/null),works)
$(shell rm -f $(BASE) $(DEV))
endif

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	echo "  PRECEPT_PORT (8000) and PRECEPT_DATA_DIR (.data) let checkouts run side by side."

run: $(BASE) ## Start Precept with its database and, on first start, the demo bank
	@exec $(PY) -m config.run

test: $(DEV) chromium readers ## Run the tests, two files at a time (ARGS='-k words' selects, one at a time)
	@export PRECEPT_DATA_DIR=$(TEST_DATA)
	trap '$(DATABASE) stop --quiet' EXIT
	$(PY) -m pytest $(or $(ARGS),-n 2 --dist loadfile)

lint: $(DEV) ## Check style, imports between rooms, settings, migrations and the API description
	@export PRECEPT_DATA_DIR=$(TEST_DATA)
	schema=$$(mktemp)
	leave='rm -f "$$schema"'
	$(DATABASE) status --quiet || leave="$$leave; $(DATABASE) stop --quiet"
	trap "$$leave" EXIT
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'
	$(PY) manage.py check --database default
	$(PY) manage.py makemigrations --check --dry-run
	$(PY) manage.py spectacular --validate --fail-on-warn --file "$$schema"
	diff -u docs/openapi.yaml "$$schema" || {
		echo "docs/openapi.yaml does not describe the API as it is. If the change is meant, run:"
		echo "  $(PY) manage.py spectacular --file docs/openapi.yaml"
		exit 1
	} >&2

bench: $(DEV) ## Run the benchmarks
	@$(PY) -m benchmarks $(ARGS)

clean: ## Remove what can be built again; keeps the data
	@if [ -x $(PY) ] && [ -e $(TEST_DATA) ]; then
		$(DATABASE) erase --quiet --data-dir $(TEST_DATA) || true
	fi
	rm -rf $(VENV) $(TEST_DATA) .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	echo "Clean. Data directories are kept; 'make clean-data' deletes the one make run uses."

clean-data: $(BASE) ## Delete the data directory: database, documents, logs
	@data=$${PRECEPT_DATA_DIR:-.data}
	$(DATABASE) erase --quiet --data-dir "$$data"
	rm -rf "$$data"
	echo "Deleted $$data."

# --- What the commands above need ---------------------------------------------------------------

# apt_install PACKAGES...: as root only; 1 if they could not be installed.
define APT
apt_install() {
	[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
	echo "Installing $$* with apt-get."
	export DEBIAN_FRONTEND=noninteractive
	apt-get install -qq -y --no-install-recommends "$$@" >/dev/null 2>&1 || {
		apt-get update -qq && apt-get install -qq -y --no-install-recommends "$$@" >/dev/null
	}
}
endef

define MAKE_VENV
$(APT)
command -v $(PYTHON) >/dev/null || {
	echo "$(PYTHON) is not there. Install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3" >&2
	exit 1
}
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
	echo "Precept needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V). Name another: make PYTHON=/path/to/python3" >&2
	exit 1
}
if ! $(PY) -m pip --version >/dev/null 2>&1; then
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv || true
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || {
		echo "$(PYTHON) cannot make virtual environments. As root: apt-get install python3-venv" >&2
		exit 1
	}
	echo "Making the virtual environment $(VENV)."
	$(PYTHON) -m venv --clear $(VENV)
fi
endef

# $(call PIP_INSTALL,FILE): every pin is checked against its hash. Progress is one line on a
# terminal and a line per ten packages elsewhere; pip's errors are shown as they are.
define PIP_INSTALL
total=$$(grep -c '^[a-zA-Z0-9].*==' $(1))
echo "Installing $$total packages from $(1)."
$(PY) -m pip install --require-hashes --disable-pip-version-check --root-user-action=ignore \
	--no-input -r $(1) | awk -v total="$$total" -v terminal="$$([ -t 1 ] && echo 1 || echo 0)" '
	/^Collecting/ { n++; if (terminal) printf "\r  %d of %d: %-40.40s", n, total, $$2;
		else if (n % 10 == 0) print "  " n " of " total; fflush() }
	/^Installing collected/ { if (terminal) printf "\r%-60s\r", ""; print "  unpacking"; fflush() }'
endef

$(BASE): requirements/base.txt
	@$(MAKE_VENV)
	$(call PIP_INSTALL,$<)
	touch $@

# A superset of the base requirements with the same pins.
$(DEV): requirements/dev.txt requirements/base.txt
	@$(MAKE_VENV)
	$(call PIP_INSTALL,$<)
	touch $(BASE) $@

chromium:
	@$(APT)
	command -v chromium >/dev/null || apt_install chromium fonts-liberation || true
	command -v chromium >/dev/null ||
		echo "Chromium is not installed, so the browser tests cannot run. As root: apt-get install chromium" >&2

# Without them the tests of text recognition and of old Word documents are skipped, with that reason.
readers:
	@$(APT)
	command -v tesseract >/dev/null || [ -z "$${CI:-}" ] ||
		apt_install tesseract-ocr tesseract-ocr-eng tesseract-ocr-nld tesseract-ocr-fra tesseract-ocr-deu || true
	command -v soffice >/dev/null || [ -z "$${CI:-}" ] || apt_install libreoffice-writer-nogui || true
