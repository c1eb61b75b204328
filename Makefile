# `make` alone lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/bash
ARCH ?= arm64
SUITES ?=
SEEDS ?= 100000
FIRST ?= 1
BENCH ?=

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build/lapstrake, the command line
	go build -trimpath -o build/lapstrake ./cmd/lapstrake

.PHONY: check
check: lint ## what to run before a commit: lint and the tests that need no server
	go test -short ./...

.PHONY: lint
lint: ## gofmt, vet, staticcheck, shellcheck
	tools/lint.sh

.PHONY: test
test: ## every suite with its servers, or SUITES="unit race"
	@tools/test.sh $(SUITES)

.PHONY: test-all
test-all: ## the same with every PostgreSQL version that can be had
	@tools/test.sh --all $(SUITES)

.PHONY: race
race: ## the packages with the most concurrency under the race detector
	@tools/test.sh race

.PHONY: invariants
invariants: ## how many cells of docs/invariants.yaml a test guards, and each gap
	@go test -count=1 -run TestInvariants -v ./internal/ledger | sed -n 's/^ *ledger_test.go:[0-9]*: //p'

.PHONY: crash-tax
crash-tax: ## what is read again when workers are killed, in bytes
	go test -run '^$$' -bench CrashTax -benchtime 1x ./functions/simulation

.PHONY: simulate
simulate: ## the protocol under SEEDS=n random schedules and faults, from seed FIRST=n on
	go test ./functions/simulation/schedule -count=1 -timeout 0 -v -run '^TestSimulation$$' -args -seeds $(SEEDS) -first-seed $(FIRST)

.PHONY: explore
explore: ## every interleaving of the protocol's models and of small scopes of the handlers, the large ones too
	LAPSTRAKE_EXPLORE=all go test -count=1 -timeout 0 -v -run '^TestModels$$' ./functions/simulation/model
	LAPSTRAKE_EXPLORE=all go test -count=1 -timeout 0 -v -run '^TestExplore$$' ./functions/simulation/schedule

.PHONY: mutants
mutants: ## take every guard of the protocol out, and see a test turn red
	go run ./tools/mutants

.PHONY: types
types: ## the tables of docs/types.md, from the code
	go run ./tools/typetable docs/types.md

.PHONY: tf-validate
tf-validate: ## schema, tests and lint of infra/terraform, without any cloud
	@tools/test.sh terraform

.PHONY: demo
demo: ## extract a real table, kill it half way, resume, verify
	tools/demo.sh

.PHONY: bench
bench: ## what an export costs, stage by stage; BENCH="-scale 0.1 -n 1" for a quick look
	@tools/bench.sh own $(BENCH)

.PHONY: bench-peers
bench-peers: ## the same exports by other tools, which are installed, turn by turn
	@tools/bench.sh peers $(BENCH)

.PHONY: package
package: ## dist/lambda/$(ARCH)/<function>.zip, ARCH=arm64 or amd64
	tools/package.sh $(ARCH)

.PHONY: clean
clean: ## stop the servers of this checkout, remove build/ and dist/
	tools/servers/down --here
	rm -rf build dist

.PHONY: distclean
distclean: clean ## clean, and remove the cache of servers and binaries
	tools/servers/down --cache
