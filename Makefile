# Commands of this project, implemented with Cargo.

.PHONY: help run test soak fmt compare compare-setup eval

help: ## List the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | expand -t 16

# Built without the service, which takes most of the build time.
run: ## Run two example queries on a drawing
	cargo build --release -p pidq --no-default-features
	@scripts/example_queries.sh

test: ## Run all checks: format, lints, tests, documentation, examples, benchmarks
	@scripts/test.sh

soak: ## Run long tests for hours: fuzzing (MINUTES=30 per target), hostile inputs, properties, power cuts
	@scripts/soak.sh

eval: ## Evaluate document search on judged queries
	cargo run --quiet --release -- pipeline eval --beir pidq-pipeline/tests/data/plant_corpus

fmt: ## Format the code
	cargo fmt --all

# The comparison expects the command in `target` and builds its own programs in a separate `target`.
compare: export CARGO_TARGET_DIR = target
compare: compare-setup ## Compare pidq with other tools and print the ratios; ARGS="--quick" for half a minute
	cargo build --release
	cd benches/compare && cargo run --release -- $(ARGS)
	benches/compare/python_bindings.sh
	benches/http/run.sh

compare-setup: ## Fetch the tools of the comparison
	benches/compare/setup.sh
