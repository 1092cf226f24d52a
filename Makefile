# Commands of this project, implemented with Cargo.

.PHONY: help run demo docs test test-long test-integrations failover soak fmt compare compare-setup eval dist release

help: ## List the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | expand -t 20

run: ## Run two example queries on a drawing
	cargo build --profile quick
	@scripts/example_queries.sh

test: ## Run all checks: format, lints, tests, documentation, examples, benchmarks
	@scripts/test.sh

test-integrations: ## Test the integrations with Apache Spark and Ballista on real clusters; downloads 850 MB, builds 400 crates
	@scripts/integrations.sh

demo: ## Build everything and start the demo with the dashboard: drawings, documents, questions
	@scripts/dashboard.sh build
	cargo run --profile quick --features full -- up --demo --open --data-dir target/demo

docs: ## Build the documentation site into target/site
	@scripts/docs.sh build

failover: ## Run three replicas on PostgreSQL with Patroni, and kill the primary (two minutes)
	@scripts/deploy_test.sh failover

test-long: ## Run long tests for hours: fuzzing (MINUTES=30 per target), hostile inputs, properties, power cuts
	@scripts/test_long.sh

soak: ## Load the graph service for two hours (MINUTES=120), with its memory as CSV and SVG in target/soak
	@scripts/soak.sh

eval: ## Evaluate document search on judged queries
	cargo run --quiet --profile quick --features full -- pipeline eval --beir pidq-pipeline/text/tests/data/plant_corpus

dist: ## Build the release artifacts of this machine into dist/
	@scripts/sdist.sh
	@scripts/dist.sh

release: ## Prepare a release: version, changelog, tests, commit, tag, artifacts; VERSION=0.2.0
	@scripts/release.sh "$(VERSION)"

fmt: ## Format the code
	cargo fmt --all

# The comparison expects the command in `target` and builds its own programs in a separate `target`.
compare: export CARGO_TARGET_DIR = target
compare: compare-setup ## Compare pidq with other tools and print the ratios; ARGS="--quick" for half a minute
	cargo build --release --features full
	cd benches/compare && cargo run --release -- $(ARGS)
	benches/compare/python_bindings.sh
	benches/http/run.sh

compare-setup: ## Fetch the tools of the comparison
	benches/compare/setup.sh
