# `make run` does the main job, `make test` the tests; both work on a fresh machine with Python 3.11 or newer.
# `make check` does in a minute what an edit needs: style, types, and the fast tests.
#   PYTHON=python3.12 make test     picks the interpreter
#   make run ARGS='shared --set m=1000 --target sim'

comma  := ,
VENV   := .venv
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,\
            $(shell command -v $(p) >/dev/null && $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
ARGS   ?= shared
# Where there is an NVIDIA driver, CuPy for its CUDA version comes along.
CUDA   := $(shell nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9]*\).*/\1/p')
GPU    := $(if $(filter 12,$(CUDA)),cuda12)$(if $(filter-out 12,$(CUDA)),cuda13)
# `make run` installs what Weft itself needs; what the tests need comes with the first other target.
RUNS   := $(VENV)/.runs
WORKERS ?= 2
# The tests start hundreds of processes: where Python keeps nothing that it has compiled, each would compile Weft anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test check soak lint clean
.DEFAULT_GOAL := run

run: $(if $(wildcard $(STAMP)),$(STAMP),$(RUNS))
	@$(BIN)/weft run $(ARGS)

# The types are checked beside the tests: on two cores that takes half a minute less than one after the other.
test: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet weft
	@$(BIN)/pyright --pythonpath $(BIN)/python & types=$$!; \
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile tests; tests=$$?; \
	wait $$types && exit $$tests

# The inner loop: style; the types of what differs from the last commit and of what imports that; and of a fast core of the tests, and
# the test files that differ or have the name of a source that does, those that half a minute is enough for. What is left out is listed.
#   make check ROOM=launch          the tests of one room alone: of each folder of that name in tests/
#   make check ROOM=launch ALL=1    all of them, however long they take
check: $(STAMP)
ifdef ROOM
	@tests=$$($(BIN)/python tests/room_tests.py "$(ROOM)" $(ALL:%=all)) && $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $$tests
else
	@$(BIN)/ruff check .
	@{ typed=$$($(BIN)/python tests/changed.py) && { test -z "$$typed" || $(BIN)/pyright --pythonpath $(BIN)/python $$typed; }; } & types=$$!; \
	tests=$$($(BIN)/python tests/room_tests.py "" $(ALL:%=all)) && $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $$tests; tests=$$?; \
	wait $$types && exit $$tests
endif

# The same tests with long counts, and with all cases: what `make test` takes few of (tests/thinning.py).
soak: $(STAMP)
	@WEFT_SOAK=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile tests

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check weft
	@$(BIN)/pyright --pythonpath $(BIN)/python

$(STAMP): EXTRAS := dev$(GPU:%=$(comma)%)
$(RUNS): EXTRAS := $(GPU)
$(STAMP) $(RUNS): pyproject.toml
	@if [ -z "$(PYTHON)" ]; then echo "weft needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.12" >&2; exit 1; fi
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "weft needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) --version 2>&1`" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "cannot make a virtual environment: is the venv module installed (Debian: python3-venv)?" >&2; exit 1; }
	@echo "installing weft and what it needs into $(VENV) (once)" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.$(EXTRAS:%=[%])'
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
