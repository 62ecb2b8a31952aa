# What there is to do here. Needs Python 3.11 or newer, make and git; everything else goes into .venv.
#
#   make demo    run the first tutorial without a browser and print the accuracy it reaches
#   make lab     open the tutorials in JupyterLab
#   make test    everything that is checked
#   make site    builds the documentation into build/site, and checks its links
#   make site-lite   builds JupyterLite with the tutorials into build/site/lite: Python runs in the browser there
#   make test-cuda   compiles the CUDA kernels for sm_90; needs no GPU (installs numba-cuda into .venv-cuda)
#   make test-lowest   runs a dozen graphs with the lowest versions that pyproject.toml allows (in .venv-lowest)
#   make bench   tfnb against TensorFlow, in turns (installs tensorflow-cpu into .venv-oracle); results go to docs/performance.md
#   make bench-gpu   kernels and networks on a GPU, beside PyTorch and JAX where they are installed; on the simulator without
#   make bench-peers   installs PyTorch and JAX into .venv-torch and .venv-jax: make bench then has them in its tables

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: demo lab test site site-lite test-cuda test-lowest bench bench-gpu bench-peers protos clean check-python

NEWEST := sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	"$$p" -c 'import sys; $(NEWEST)' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .stamps
BUILT_FROM := pyproject.toml tfnb/proto/build_hook.py tfnb/core/version.py
PROTOS := $(wildcard tfnb/proto/*.proto)
EXTENSION := $(shell git ls-files --cached --others --exclude-standard extension 2>/dev/null)
ORACLE := .venv-oracle
CUDA := .venv-cuda
LOWEST := .venv-lowest
# The lowest versions have wheels for these.
LOWEST_PYTHON ?= $(shell for p in python3.11 python3.12 python3; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' 2>/dev/null && echo "$$p" && break; done)
TORCH := .venv-torch
JAX := .venv-jax
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Kernels and servers start by the hundred in the tests: where this is set, each would compile all of tfnb's modules anew.
export PYTHONDONTWRITEBYTECODE :=
# Node's programs look for `node` on PATH: the one that pip installed.
export PATH := $(CURDIR)/$(BIN):$(PATH)

demo: $(STAMPS)/notebooks
	$(BIN)/python -m tfnb.notebook.demo

lab: $(STAMPS)/notebooks
	$(BIN)/jupyter lab notebooks

test: $(STAMPS)/test $(if $(wildcard extension/package.json),$(STAMPS)/extension)
	$(BIN)/ruff check .
	$(BIN)/python tfnb/proto/build_hook.py stubs
	$(BIN)/mypy
	if [ -d extension/node_modules ]; then cd extension && npm run check && npm run lint && npm test; fi
	$(BIN)/python -m pytest -n 2 --dist worksteal

site: $(STAMPS)/site $(STAMPS)/lite
	$(BIN)/python -m docs.website --lite
	$(MAKE) site-lite
	@echo "look at it: $(BIN)/python -m http.server -d build/site"

site-lite: $(STAMPS)/lite
	$(BIN)/python -m docs.website.lite build/site/lite

test-cuda: $(STAMPS)/cuda
	$(CUDA)/bin/python -m pytest -q -m cuda_compile tests/kernels/cuda

test-lowest: $(STAMPS)/lowest
	TFNB_LOWEST=1 $(LOWEST)/bin/python -m pytest -q tests/test_lowest.py

bench: $(STAMPS)/notebooks $(STAMPS)/oracle
	$(BIN)/python -m benchmarks --oracle $(ORACLE)/bin/python --torch $(TORCH)/bin/python --jax $(JAX)/bin/python \
		--write docs/performance.md

# Without a card: the simulator, at tiny sizes.
bench-gpu: $(STAMPS)/notebooks
	if command -v nvidia-smi >/dev/null; then $(BIN)/python -m benchmarks.gpu; \
	else NUMBA_ENABLE_CUDASIM=1 $(BIN)/python -m benchmarks.gpu; fi

bench-peers: $(STAMPS)/torch $(STAMPS)/jax

protos: $(STAMPS)/notebooks
	$(BIN)/python -m pip install -q 'grpcio-tools>=1.74,<1.81'
	$(BIN)/python tfnb/proto/build_hook.py protos

check-python:
	@test -n "$(PYTHON)" || { echo "No Python 3.11 to 3.14 found; name one by: make PYTHON=/path/to/python3.11" >&2; exit 1; }

$(VENV)/pyvenv.cfg: | check-python
	$(PYTHON) -m venv $(VENV)

# An editable install: the build hook compiles the protocol buffers and the notebook views into the source tree, and
# writes the stubs of the public modules there.
$(STAMPS)/notebooks: $(VENV)/pyvenv.cfg $(BUILT_FROM) $(PROTOS) $(EXTENSION)
	$(BIN)/python -m pip install -q -e '.[notebooks]'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/test: $(STAMPS)/notebooks
	$(BIN)/python -m pip install -q -e '.[test,notebooks,tensorboard]'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/site: $(STAMPS)/notebooks
	$(BIN)/python -m pip install -q -e '.[notebooks,site]'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/lite: $(STAMPS)/notebooks
	$(BIN)/python -m pip install -q -e '.[notebooks,lite]'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/oracle: | check-python
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/python -m pip install -q 'tensorflow-cpu>=2.20,<2.22' 'protobuf>=6.31.1,<8'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/torch: | check-python
	$(PYTHON) -m venv $(TORCH)
	$(TORCH)/bin/python -m pip install -q 'torch==2.13.0' numpy
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/jax: | check-python
	$(PYTHON) -m venv $(JAX)
	$(JAX)/bin/python -m pip install -q 'jax==0.10.2'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/cuda: $(STAMPS)/notebooks
	$(PYTHON) -m venv $(CUDA)
	$(CUDA)/bin/python -m pip install -q -e '.[cuda]' 'pytest>=8.2' 'mpmath' 'numpy<2.5'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/lowest: $(STAMPS)/notebooks tests/lowest_versions.py
	@test -n "$(LOWEST_PYTHON)" || { echo "make test-lowest needs Python 3.11 or 3.12: LOWEST_PYTHON=/path/to/it" >&2; exit 1; }
	rm -rf $(LOWEST)
	$(LOWEST_PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python tests/lowest_versions.py pytest > $(LOWEST)/requirements.txt
	$(LOWEST)/bin/python -m pip install -q -r $(LOWEST)/requirements.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/extension: $(STAMPS)/test $(EXTENSION)
	cd extension && npm install --no-save --no-audit --no-fund
	@mkdir -p $(STAMPS) && touch $@

clean:
	rm -rf $(VENV) $(ORACLE) $(CUDA) $(LOWEST) $(TORCH) $(JAX) $(STAMPS) build dist .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf extension/node_modules tfnb/notebook/static
	rm -f tfnb/proto/*_pb2.py*
