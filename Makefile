# The commands of this project. Cargo does the work.

.PHONY: help run test soak fmt compare compare-setup eval

help: ## Lists the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | expand -t 16

# The service is left out: it takes most of the time.
run: ## Shows the main job: two questions to a drawing
	cargo build --release -p pidq --no-default-features
	@scripts/show.sh

test: ## Runs everything: format, lints, tests, documentation, examples, benches
	@scripts/test.sh

soak: ## Runs for hours: each fuzz target half an hour (MINUTES=30), a million attacks, many more properties
	@scripts/soak.sh

eval: ## Measures the search of documents on judged questions
	cargo run --quiet --release -- pipeline eval --beir pidq-pipeline/tests/data/plant_corpus

fmt: ## Formats the code
	cargo fmt --all

# The comparison looks for the command in `target`, and keeps what it builds itself in a `target` of its own.
compare: export CARGO_TARGET_DIR = target
compare: compare-setup ## Measures pidq beside its peers and prints the ratios; ARGS="--quick" for half a minute
	cargo build --release
	cd benches/compare && cargo run --release -- $(ARGS)
	benches/compare/python.sh
	benches/http/run.sh

compare-setup: ## Fetches the peers of the comparison
	benches/compare/setup.sh
