# make demo and make test do all the set-up they need. Two stamps: RUNNABLE installs what a user
# needs, READY adds the tools of a developer; every target but demo builds on the second.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
RUNNABLE := $(VENV)/.runnable
READY := $(VENV)/.ok

PYTEST := SCIPY_ARRAY_API=1 OMP_NUM_THREADS=1 $(RUN) -m pytest -n auto --maxprocesses 4 --dist loadgroup
BOUNDS := $(CURDIR)/.bounds

.PHONY: demo test test-skipped check coverage compiled lowest bounds bench papers docs clean

demo: $(RUNNABLE)
	$(VENV)/bin/typicality demo --output demo --force

# Compiled code is made first, once; else each process of pytest would compile most of it. The
# variables let scikit-learn's array-API checks run instead of being skipped, and keep the processes
# of pytest, one for each core, from starting threads for each core.
test: $(READY)
	$(MAKE) --jobs 2 check compiled
	$(PYTEST)

# The tests that the last `make test` skipped, after optional parts (torch, a browser) were installed.
test-skipped: $(READY)
	$(PYTEST) --skipped-before

compiled: $(READY)
	$(VENV)/bin/typicality warm-up --quiet

check: $(READY)
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy

# Which lines the tests run. Compiled loops and code for a GPU are left out: they run elsewhere.
coverage: $(READY) compiled
	$(RUN) -m pip install --quiet --constraint constraints.txt pytest-cov
	$(PYTEST) --cov=typicality --cov-report=term:skip-covered

# The main tests with the oldest versions that pyproject.toml allows.
lowest:
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet --constraint constraints-min.txt ".[cli,plot,xlsx,dask]" \
		"pytest<9" pytest-xdist hypothesis psutil pandas polars
	$(VENV)-lowest/bin/python tests/smoke.py
	SCIPY_ARRAY_API=0 OMP_NUM_THREADS=1 $(VENV)-lowest/bin/python -m pytest -n auto --maxprocesses 4 --dist loadgroup \
		tests/cluster/test_estimators.py tests/cluster/test_sklearn.py tests/membership tests/sums/test_contract.py tests/persistence tests/tables \
		tests/cli/test_categories.py tests/cli/test_cluster.py tests/cli/test_compare.py tests/cli/test_outliers.py

# Compiled code with checks of every index.
# In a cache of its own, for numba does not look at this variable when it looks for compiled code.
# One contract is left out: it is about the last digits, which differ without vector instructions.
bounds: $(READY)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(BOUNDS) OMP_NUM_THREADS=1 $(RUN) -m pytest -q -n auto \
		--maxprocesses 4 --dist loadgroup -k "not sums_know_their_error" tests/test_kernels.py tests/test_minimax.py \
		tests/sums tests/levelsets tests/membership tests/metrics tests/solve \
		tests/cluster

bench: $(READY)
	$(RUN) -m pip install --quiet --constraint constraints.txt --requirement benchmarks/requirements.txt
	$(RUN) benchmarks/first_fit.py
	$(RUN) benchmarks/fcm_iteration.py
	$(RUN) benchmarks/coming_from.py
	$(RUN) benchmarks/automatic_quality.py
	$(RUN) benchmarks/sequential_quality.py
	$(RUN) benchmarks/robustness.py
	$(RUN) benchmarks/kernel_sums.py
	$(RUN) benchmarks/outlier_speed.py
	$(RUN) benchmarks/p_values.py --quick
	$(RUN) benchmarks/cores.py
	$(RUN) benchmarks/tables.py
	$(RUN) benchmarks/larger_than_memory.py --rows 10000000 --iterations 5 --density 10000000
	$(RUN) benchmarks/dask_workers.py --workers 1 2

# Each paper's RESULTS.md and figures/, beside its code. `make papers FAST=--fast` repeats less, and
# writes to papers/results. Sets that are not ours to ship come from the folder TYPICALITY_DATA names.
papers: $(READY)
	PYTHONPATH=papers $(RUN) -m filippone2007 $(FAST)
	PYTHONPATH=papers $(RUN) -m filippone2010 $(FAST)
	PYTHONPATH=papers $(RUN) -m miyamoto2003 $(FAST)
	PYTHONPATH=papers $(RUN) -m lecture20 $(FAST)
	PYTHONPATH=papers $(RUN) -m xenaki2014 $(FAST)

docs: $(READY)
	$(RUN) -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	$(RUN) -m sphinx -W --keep-going docs docs/_build/html

# Debian's python3 may come without venv: virtualenv, in a folder of its own, stands in.
$(RUNNABLE): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "typicality needs Python 3.11 or newer; try: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv --clear $(VENV) || { \
		$(PYTHON) -m pip install --quiet --target $(VENV)-bootstrap virtualenv && \
		PYTHONPATH=$(VENV)-bootstrap $(PYTHON) -m virtualenv --clear $(VENV); }
	$(RUN) -m pip install --quiet --constraint constraints.txt --editable ".[cli,plot]"
	touch $(RUNNABLE)

$(READY): $(RUNNABLE)
	$(RUN) -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $(READY)

clean:
	rm -rf $(BOUNDS) $(VENV) $(VENV)-bootstrap $(VENV)-lowest .venv-peers build dist demo docs/_build docs/gallery docs/generated benchmarks/results papers/results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
