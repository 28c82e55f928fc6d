# make run | serve | wheel | test | thorough | lint | bench | reliability | screenshot | lock
# Needs Python 3.11 or newer with venv; the tests also need Debian's chromium, postgresql and haproxy.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
LONGEST := tests/audit/test_interference.py tests/audit/test_black_box_audit.py tests/ledger/test_reliability_short.py
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
# Python keeps what it has compiled; otherwise every server that a test starts compiles the product again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run serve wheel test suite thorough programs collected lint types bench reliability audit screenshot lock clean

# Compiled on all processors, where pip would do it on one; what is no Python for this version is left as it is.
$(VENV)/run.done: requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-compile -r requirements.txt
	-$(BIN)/python -m compileall -q -j 0 $(VENV)/lib
	touch $@

# What tests alone need is compiled where it is imported, and most of it never is.
$(VENV)/test.done: $(VENV)/run.done tests/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-compile -r tests/requirements.txt
	touch $@

run: $(VENV)/run.done
	$(BIN)/python -m dashboard open --port $(PORT)

serve: $(VENV)/run.done
	$(BIN)/python -m dashboard serve --port $(PORT) $(if $(ADDRESS),--address $(ADDRESS)) $(if $(REPLICAS),--replicas $(REPLICAS))

wheel: $(VENV)/test.done
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

test:
	$(MAKE) --no-print-directory -j 2 $(VENV)/test.done programs
	$(MAKE) --no-print-directory -j 2 lint suite

# The tests begin beside the linters, on what these leave idle.
suite: collected
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not thorough and not browser"

# What takes longer: Chromium, servers, neighbouring files, every hole, faults of the ledger. CI runs both.
# The browser first, which one worker drives from beginning to end, and last what make audit and make reliability do at
# length: where CI's time ends first, these are what it misses. Only files that hold such tests are collected.
thorough: $(VENV)/test.done programs
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "thorough or browser" \
		tests/browser $$(grep -rl --include='*.py' 'mark\.thorough' tests | grep -v $(addprefix -e ,$(LONGEST)) | sort) $(LONGEST)

programs:
	sh tests/system_packages.sh

# Each worker would compile every test by itself; once they are compiled, beside the linters, they only load them.
collected: $(VENV)/test.done
	$(BIN)/python -m pytest --collect-only -qqq >$(VENV)/collected.txt || { cat $(VENV)/collected.txt; exit 1; }

lint: $(VENV)/test.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -n 2
	$(BIN)/python -m supply.scan

bench: $(VENV)/test.done
	$(BIN)/python -m benchmarks

reliability: $(VENV)/test.done
	$(BIN)/python -m benchmarks.reliability

audit: $(VENV)/test.done
	$(BIN)/python -m benchmarks.audit

screenshot: $(VENV)/test.done
	$(BIN)/python -m tests.browser.screenshots

lock: $(VENV)/test.done
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	printf 'pip\nsetuptools\n' | $(BIN)/uv pip compile pyproject.toml - --extra login --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-header --no-annotate --quiet -o requirements.txt
	$(BIN)/uv pip compile pyproject.toml --extra login --extra cluster --group dev --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-header --no-annotate --quiet -c requirements.txt -o tests/requirements.txt
	$(BIN)/python -m supply.sbom

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
