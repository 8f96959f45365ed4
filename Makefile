# mnemic: the commands of the project. `make help` lists those of every day; tests/make/special.mk has those for one purpose each, and
# tests/make/environments.mk what they need. Nothing needs to be installed first but Python >= 3.11 and make: .venv is built from the
# lock files, and rebuilt only when a lock file or a pyproject.toml has changed.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The first interpreter that is new enough; `make PYTHON=/path/to/python3.12 test` overrides it.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
    $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input

# The harnesses that run the frameworks' own tests against ours, for `make conformance`.
CONFORMANCE ?= ../shared/conformance
# Optional: the LoCoMo conversations for `make bench`.
LOCOMO ?= ../shared/data/locomo
# More for pytest, for instance `make test PYTEST_ARGS="-k guard -x"`; TEST_JOBS=0 runs in one process.
PYTEST_ARGS ?=
TEST_JOBS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(TEST_JOBS) --dist worksteal

# The distributions of this repository, the one that people install at the root; bench/eval is in no release.
MEMBERS := . $(patsubst %/pyproject.toml,%,$(wildcard packages/*/pyproject.toml)) bench/eval
PROJECTS := $(addsuffix /pyproject.toml,$(MEMBERS))
EDITABLES := $(addprefix --editable ,$(MEMBERS))

MADE := $(VENV)/.made
RUN_READY := $(VENV)/.ready-run
DEMO_READY := $(VENV)/.ready-demo
DEV_READY := $(VENV)/.ready-dev
CONF_READY := build/conformance/.ready
CONF := build/conformance/venv/bin
NER_READY := build/ner/.ready
NER := build/ner/venv/bin
MODEL_READY := build/model/.ready
CLIENT_TS := clients/typescript
NODE_READY := $(CLIENT_TS)/node_modules/.ready
CLIENT_READY := $(CLIENT_TS)/dist/.ready
MASTRA_READY := $(CLIENT_TS)/test-mastra/node_modules/.ready
REST_SOURCES := $(shell find packages/mnemic-server/src/mnemic_server -name '*.py')
PEERS_READY := build/peers/.ready
PEERS := build/peers/venv/bin

.PHONY: help demo test test-extended test-all check check-static coverage bench faults scorecard mutants conformance docs client-ts lock audit sbom release release-check dist dist-npm clean distclean test-postgres race

include tests/make/environments.mk tests/make/special.mk

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1|/' | awk -F'|' '{ printf "  make %-14s %s\n", $$1, $$2 }'

demo: $(DEMO_READY) ## the whole thing at work, also on LangGraph and Strands; no key needed, with MNEMIC_MODEL through a model
	@$(BIN)/mnemic demo
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	for name in LangGraph:assistant Strands:strands_assistant; do \
	    echo; echo "=== The travel assistant on $${name%%:*}"; \
	    $(BIN)/python examples/travel/$${name##*:}.py "$$folder/$${name##*:}.db"; \
	done

test: $(DEV_READY) browser cassandra ## the tests of a change: units, contracts on SQLite, PostgreSQL and Valkey, every face, security
	@$(PYTEST) -m "not extended" $(PYTEST_ARGS)

test-extended: $(DEV_READY) neo4j cassandra browser nginx pgbouncer strace $(CLIENT_READY) $(MASTRA_READY) # what `make test` leaves out
	@$(PYTEST) -m extended $(PYTEST_ARGS)

test-all: test test-extended scorecard ## these, and Neo4j, Cassandra, frameworks, faults, state machines, mutants, the scorecard

check: check-static coverage ## formatting, lint, types, layers, then the tests with branch coverage

check-static: $(DEV_READY) ## formatting, lint, types and layers only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

coverage: $(DEV_READY) neo4j cassandra browser nginx pgbouncer strace $(CLIENT_READY) ## the tests with branch coverage; fails under the floor in pyproject.toml
	@mkdir -p build
	@$(PYTEST) --cov --cov-report=term --cov-report=json:build/coverage.json $(PYTEST_ARGS)

bench: $(RUN_READY) ## latency, cold start, footprint, and evidence recall if the conversations are installed
	@$(BIN)/mnemic bench
	@if [ -d "$(LOCOMO)" ]; then \
	    $(BIN)/mnemic eval locomo --data "$(LOCOMO)"; \
	else \
	    echo "NOT MEASURED: evidence recall. There is no folder $(LOCOMO); give one with LOCOMO=PATH." >&2; \
	fi

race: $(PEERS_READY) ## the same calls on mem0, LangGraph's stores, Chroma, LanceDB and sqlite-vec, in one run (RACE="--sizes 1000,100000")
	@$(PEERS)/python -m bench.race --json build/peers/race.json $(RACE)

faults: $(DEV_READY) ## kills, power cuts and failing calls at the published sizes (minutes)
	@MNEMIC_FAULT_SCALE=full $(PYTEST) -m faults $(PYTEST_ARGS)

# Another PostgreSQL: an installation (the folder that holds bin, lib and share) that has pgvector.
POSTGRES ?=
test-postgres: $(DEV_READY) ## what concerns PostgreSQL, on the installation POSTGRES=PATH
	@test -x "$(POSTGRES)/bin/postgres" || { echo "NOT RUN: there is no server in POSTGRES=$(POSTGRES)" >&2; exit 2; }
	@MNEMIC_POSTGRES="$(abspath $(POSTGRES))" $(PYTEST) $(PYTEST_ARGS) \
	    tests/stores/postgres tests/contract/test_document_stores.py tests/migration/test_postgres_migrations.py tests/security tests/stateful/test_postgres_machine.py \
	    tests/stores/sqlite tests/stores/shared tests/faults/test_postgres.py tests/e2e/test_postgres.py tests/e2e/test_postgres_backup.py

# Some of its rows: `make scorecard ROWS="S1 S22"`.
ROWS ?=
scorecard: $(DEV_READY) ## every promise put to the test, small; writes build/scorecard.json
	@$(BIN)/python -m bench.scorecard --size small --only $(ROWS)

mutants: $(DEV_READY) ## mutation testing on a sample of mutants (MUTANTS="*__mutmut_7")
	@$(if $(MUTANTS),CI=true $(BIN)/python -m mutmut run $(MUTANTS),MNEMIC_STRENGTH=1 $(BIN)/python -m pytest -q -rA tests/strength -k mistakes)

conformance: $(CONF_READY) ## LangGraph's and Strands' own tests against ours on both stores, where the harnesses are (CONFORMANCE=PATH)
	@$(HARNESSES)
	@for name in langgraph strands; do \
	    rm -rf build/conformance/$$name/gen && cp -r "$(CONFORMANCE)/$$name" build/conformance/ \
	    && echo "== $$name" && (cd build/conformance/$$name && "$(CURDIR)/$(CONF)/python" build.py); done
	@for store in sqlite postgres; do \
	    echo "== langgraph on $$store" && (cd build/conformance/langgraph && $(ON_STORE) \
	        STORE_FACTORY=tests.conformance.langgraph_target:make_store \
	        "$(CURDIR)/$(CONF)/python" -m pytest gen -q -n $(TEST_JOBS) $(PYTEST_ARGS)); \
	    echo "== strands on $$store" && (cd build/conformance/strands && $(ON_STORE) \
	        STRANDS_INJECTION=tests.conformance.strands_target STRANDS_INJECTION_PR2797=tests.conformance.strands_target:pr2797 \
	        STRANDS_CONTEXT_INJECTOR=tests.conformance.strands_target:ContextInjector \
	        STRANDS_STORE=tests.conformance.strands_target:make_store \
	        "$(CURDIR)/$(CONF)/python" -m pytest -q $(PYTEST_ARGS)); \
	done

# The types are generated from the description that the service gives of itself.
client-ts: $(DEV_READY) $(CLIENT_READY) $(MASTRA_READY) ## the TypeScript client: generated, built, and tested against a running service (needs node and npm)
	@$(BIN)/python -m pytest -q -rs tests/e2e/test_typescript.py

docs: $(DEV_READY) ## the documentation site in build/docs; fails on a broken link and on a name that does not resolve
	@$(PYTEST) -q tests/architecture/test_pages.py tests/e2e/test_docs_site.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "open build/docs/index.html; it needs no server and no network"

# ---------------------------------------------------------------- the locks

LOCKER := build/lock/bin/uv
COMPILE = $(LOCKER) pip compile --quiet --no-strip-extras --no-emit-package mnemic $(addprefix --no-emit-package ,$(notdir $(filter-out . bench/%,$(MEMBERS))) mnemic-eval) --generate-hashes --python-version 3.11 --custom-compile-command "make lock" $(LOCK_ARGS)
# Two environments: Strands' litellm extra, which its own tests import, needs an openai older than our openai extra.
FRAMEWORKS := langgraph strands langchain openai-agents pydantic-ai adk agent-framework llama-index ag2 mcp
MODELS := anthropic gemini bedrock azure-openai ollama cohere voyage fastembed
DEV_EXTRAS := $(addprefix --extra=,openai $(MODELS) $(FRAMEWORKS) postgres redis azure cassandra neo4j onnx multilingual server otel client keys structured travel yaml tokens) $(addprefix --group=,build test test-frameworks dev)
SERVICE_EXTRAS := $(addprefix --extra=,server postgres redis cassandra neo4j mcp otel client keys structured travel yaml) --group=build
CONF_EXTRAS := $(addprefix --extra=,langgraph strands postgres redis azure keys structured travel yaml) $(addprefix --group=,build test conformance)

lock: ## the lock files anew; LOCK_ARGS=--upgrade moves every version, LOCK_ARGS="-P numpy" one
	@test -x $(LOCKER) || { $(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet "uv>=0.9,<1"; }
	$(COMPILE) $(DEV_EXTRAS) --output-file requirements.lock pyproject.toml
	$(COMPILE) --extra openai --extra keys --extra structured --extra travel --extra yaml --group build --constraint requirements.lock --output-file requirements-run.lock pyproject.toml
	$(COMPILE) --extra openai --extra keys --extra structured --extra travel --extra yaml --group build --extra langgraph --extra strands --constraint requirements.lock \
	    --output-file requirements-demo.lock pyproject.toml
	$(COMPILE) $(SERVICE_EXTRAS) --constraint requirements.lock --output-file requirements-service.lock pyproject.toml
	$(COMPILE) $(CONF_EXTRAS) --output-file requirements-conformance.lock pyproject.toml
	$(COMPILE) --extra ner --extra keys --extra structured --group build --group test --constraint requirements.lock --output-file requirements-ner.lock pyproject.toml

audit: ## what is known against the packages of the lock files; asks the database of osv.dev
	@$(PYTHON) -m tests.supply_chain audit requirements*.lock

sbom: ## the bill of materials of the service (CycloneDX), in build/sbom.json
	@mkdir -p build && $(PYTHON) -m tests.supply_chain sbom requirements-service.lock > build/sbom.json

# ---------------------------------------------------------------- a release

VERSION ?=
TAG ?=
release: $(DEV_READY) ## set VERSION=1.2.3 everywhere and date the changelog; commit it, then tag v1.2.3
	@test -n "$(VERSION)" || { echo "make release VERSION=1.2.3" >&2; exit 2; }
	@$(BIN)/python -m tests.release set $(VERSION)

release-check: # whether every package and the changelog agree with TAG=v1.2.3
	@$(PYTHON) -m tests.release check $(TAG)

dist: $(DEV_READY) ## wheel and sdist of every package, in dist/
	@rm -rf dist; for folder in $(filter-out bench/%,$(MEMBERS)); do \
	    (cd $$folder && "$(CURDIR)/$(BIN)/python" -m hatchling build --directory "$(CURDIR)/dist" > /dev/null) || exit 1; done
	@ls dist | wc -l

dist-npm: $(CLIENT_READY) # the package of the TypeScript client, in build/npm
	@rm -rf build/npm && mkdir -p build/npm && cd $(CLIENT_TS) && npm pack --silent --pack-destination ../../build/npm

clean: ## remove what was built, keep the environment
	rm -rf build dist htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests packages bench -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove the environment too
	rm -rf $(VENV)
