# Everything that this project does by command. `make help` lists it; `make test` is what CI runs.

GO ?= go

.PHONY: help run check test prove soak lint platforms vulnerabilities bench fmt tidy release

help: ## Lists the targets
	@awk 'BEGIN { FS = ": ## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+: ## / { printf "  %-15s %s\n", $$1, $$2 } \
		/^#: / { printf "  %-15s %s\n", "", substr($$0, 4) }' $(MAKEFILE_LIST)

##@ To see it

run: ## Runs the sample app on embedded defaults: no server needed
	$(GO) run ./sample-app

##@ To test it

check: ## Lints, and runs the tests that need no server, in about two minutes
	./test/check.sh

test: ## Runs every test, on real servers that it starts and stops
	./test/run.sh

prove: ## Tries all of a small world, and random ones in simulated time; prints what was tried
#: make prove TIME=8h; make prove SEED=4711 repeats one world; make prove PLANT=1 plants bugs
	./test/prove.sh -time=$(or $(TIME),10m) $(if $(SEED),-seed=$(SEED)) $(if $(PLANT),-plant) $(if $(WRITE),-write)

soak: ## Runs every test under the race detector, over and over, with more tries and storms
#: make soak COUNT=5 TRIES=200 SEEDS=50
	PATHLOCK_TEST_RACE=all PATHLOCK_TEST_TRIES=$(or $(TRIES),200) PATHLOCK_TEST_SEEDS=$(or $(SEEDS),50) ./test/run.sh -timeout 3h -count=$(or $(COUNT),5)

lint: ## Runs gofmt, the check of comments' width, and golangci-lint with go vet in every module
	./test/lint.sh

platforms: ## Builds for Windows all that is not for tests, and compiles all for a 32-bit processor
	GOOS=windows $(GO) build $$($(GO) list $$($(GO) list -m -f '{{.Dir}}/...') | grep -vE '/(internal/test|test|integration|proof)(/|$$)')
	GOARCH=386 CGO_ENABLED=0 $(GO) vet -tests=true $$($(GO) list -m -f '{{.Dir}}/...')

vulnerabilities: ## Looks for known vulnerabilities in what every module uses
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.8.0 $$($(GO) list -m -f '{{.Dir}}/...')

##@ To measure it

bench: ## Compares with other locks and with no locks, on servers that it starts and stops
#: make bench ARGS="-run latency"; bench/README.md says what there is
	./bench/run.sh $(ARGS)

##@ To change it

fmt: ## Formats all Go files
	gofmt -w $$(git ls-files '*.go')

tidy: ## Runs go mod tidy in every module
	./test/tidy.sh

release: ## Shows what a release changes; with WRITE=1 commits and tags it, and pushes nothing
#: make release VERSION=v0.1.0 WRITE=1
	WRITE=$(WRITE) ./test/release.sh $(VERSION)
