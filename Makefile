# `make help` lists the targets. CONTRIBUTING.md says more about each.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 10m
E2E := ./internal/e2e
NODE := internal/e2e/node
STARTED := $(shell date +%s)

# The directories of the workspace's modules, and the pattern for all their packages.
MODULES = $(shell go list -m -f '{{.Dir}}')
ALL := work

# A part of the tests: says what it does, does it, and says how long that took.
# $(call part,what it does,command)
define part
	@printf '\n=== %s\n' '$(1)'; start=$$SECONDS; \
	( $(2) ) || { code=$$?; printf -- '--- FAILED after %ds: %s\n' $$((SECONDS - start)) '$(1)'; exit $$code; }; \
	printf -- '--- %ds: %s\n' $$((SECONDS - start)) '$(1)'
endef

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

.PHONY: build
build: ## Build the command line to bin/elicit
	go build -o bin/elicit ./cmd/elicit

.PHONY: test
test: fmt-check vet analyze tidy-check staticcheck race documents conformance interop people ## Everything that must pass before a change lands
	@printf '\n=== all passed in %ds\n' $$(($$(date +%s) - $(STARTED)))

.PHONY: fmt
fmt: ## Format all Go files
	gofmt -s -w .

.PHONY: fmt-check
fmt-check: ## Formatting: gofmt has nothing to change
	$(call part,formatting,unformatted=$$(gofmt -s -l .) && [ -z "$$unformatted" ] || { echo "run make fmt: $$unformatted"; false; })

.PHONY: vet
vet: ## go vet over all modules
	$(call part,go vet,go vet $(ALL))

# Our own mistakes, found by our own rules; and no false alarm on code of others.
.PHONY: analyze
analyze: ## elicit vet over all modules, and over the Go SDKs
	$(call part,elicit vet,go run ./cmd/elicit vet $(ALL))
	$(call part,elicit vet on the SDKs,ELICIT_E2E=1 go test -count=1 $(E2E)/lint)

.PHONY: tidy
tidy: ## go mod tidy in each module
	for module in $(MODULES); do (cd "$$module" && GOWORK=off go mod tidy); done

.PHONY: tidy-check
tidy-check: ## go mod tidy has nothing to change in any module
	$(call part,go mod tidy,for module in $(MODULES); do (cd "$$module" && GOWORK=off go mod tidy -diff) || { echo "in $$module: run make tidy"; exit 1; }; done)

.PHONY: staticcheck
staticcheck: ## staticcheck over all modules
	$(call part,staticcheck,go run $(STATICCHECK) $(ALL))

.PHONY: race
race: postgresql ## go test -race over all modules; tests that drive Node programs are left to the next two
	$(call part,go test -race,ELICIT_E2E=0 go test -race $(ALL))

# The pages are outside the module of their tests, so the test cache does not see them change.
.PHONY: documents
documents: ## What the README and docs/ show compiles and works as they show it
	$(call part,README and docs,go test -count=1 $(E2E)/docs)

# ELICIT_E2E=1 fails a test that would be skipped for want of Node packages. The test cache does not know what a program
# that a test runs was built from, hence -count=1. Of -v only the outcomes are shown, not each test's start.
define e2e
ELICIT_E2E=1 go test -race -count=1 -v $(E2E)/$(1)/... | sed '/^ *=== [A-Z]/d'
endef

.PHONY: conformance
conformance: node ## The official MCP conformance suite against internal/conformance/server
	$(call part,official conformance suite,$(call e2e,conformance))

.PHONY: interop
interop: node ## Clients and schemas of others: the TypeScript SDK, MCP Inspector
	$(call part,clients written by others,$(call e2e,interop))
	$(call part,forms as others read them,$(call e2e,forms))

.PHONY: people
people: node chromium shells ## The command line at a real terminal and in shells, and the pages in a real browser
	$(call part,terminal and browser,$(call e2e,terminal); $(call e2e,browser))

.PHONY: postgresql
postgresql: ## Install PostgreSQL, where there is none and Debian's packages are; tests start servers of their own
	@ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v initdb >/dev/null || { printf '\n=== apt-get install postgresql\n'; apt-get update -qq && apt-get install -y -qq postgresql >/dev/null; }

.PHONY: chromium
chromium: ## Install Chromium, where there is none and Debian's packages are
	@command -v chromium chromium-browser google-chrome >/dev/null || { printf '\n=== apt-get install chromium\n'; apt-get update -qq && apt-get install -y -qq chromium >/dev/null; }

.PHONY: shells
shells: ## Install zsh and fish, where they are missing and Debian's packages are
	@{ command -v zsh && command -v fish; } >/dev/null || { printf '\n=== apt-get install zsh fish\n'; apt-get update -qq && apt-get install -y -qq zsh fish >/dev/null; }

# Packages are installed when they are missing, or others than the lock file's, and only then: npm ci removes the copy of
# the lock file that says which ones are there. internal/e2e/harness looks at the same copy.
LOCK := $(NODE)/package-lock.json
INSTALLED := $(NODE)/node_modules/.installed.json

.PHONY: node
node: ## Install the Node packages that conformance and interop use
	@cmp -s $(LOCK) $(INSTALLED) || { printf '\n=== npm ci\n'; npm --prefix $(NODE) ci --loglevel=error && cp $(LOCK) $(INSTALLED); }

# One line, package and file, for each file of tests.
define TEST_FILES
{{$$p := .ImportPath}}{{$$d := .Dir}}{{range .TestGoFiles}}{{println $$p (print $$d "/" .)}}{{end}}{{range .XTestGoFiles}}{{println $$p (print $$d "/" .)}}{{end}}
endef

.PHONY: fuzz
fuzz: ## Each fuzz target of all modules for FUZZTIME (default 10m)
	@go list -f '$(TEST_FILES)' $(ALL) | while read -r package file; do \
		[ -n "$$file" ] || continue; \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file"); do \
			printf '\n=== %s %s for %s\n' "$$package" "$$target" '$(FUZZTIME)'; \
			go test -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZTIME) "$$package"; \
		done; \
	done

.PHONY: soak
soak: postgresql ## What make race takes briefly in internal/e2e/soak, at full length
	$(call part,soak,ELICIT_SOAK=1 go test -count=1 -v -timeout 1h $(E2E)/soak)
	$(call part,the database cut off,ELICIT_SOAK=1 go test -count=1 -v -run TestCut ./tasks/postgres)

# The peers that the benchmark compares with are pinned in bench/go.mod and bench/servers/typescript/package-lock.json.
BENCH := bench/servers/typescript
BENCHFLAGS ?=

.PHONY: bench-node
bench-node:
	@cmp -s $(BENCH)/package-lock.json $(BENCH)/node_modules/.installed.json || { printf '\n=== npm ci\n'; npm --prefix $(BENCH) ci --loglevel=error && cp $(BENCH)/package-lock.json $(BENCH)/node_modules/.installed.json; }

.PHONY: bench
bench: bench-node ## Compare the host with its peers, on a machine that does nothing else (BENCHFLAGS="-runs 7")
	go run ./bench $(BENCHFLAGS)

.PHONY: bench-lint
bench-lint: ## Time elicit vet beside go vet; its output is in bench/lint.txt
	bench/lint.sh

.PHONY: bench-stores
bench-stores: postgresql bench-node ## Measure the stores of tasks as they grow, on a machine that does nothing else: bench/tasks-stores.txt
	go run ./bench/stores | tee bench/tasks-stores.txt

.PHONY: clean
clean: ## Remove what the targets made, the Node packages included
	rm -rf bin .cache $(NODE)/node_modules $(BENCH)/node_modules
