# Everything that this project does by command. `make test` is what CI runs.

GO ?= go

.PHONY: run test soak bench fsck-scale lint fmt tidy

run: ## the sample app on embedded defaults: no server needed
	$(GO) run ./sample-app

test: ## lint and every test under -race, on real servers that it starts and stops
	./test/run.sh

soak: ## every test over and over, with more tries at each anomaly, and more storms: make soak COUNT=5 TRIES=200 SEEDS=50
	PATHLOCK_TEST_TRIES=$(or $(TRIES),200) PATHLOCK_TEST_SEEDS=$(or $(SEEDS),50) ./test/run.sh -timeout 3h -count=$(or $(COUNT),5)

bench: ## compares with other locks and with code by hand, on a Redis and a MariaDB that it starts and stops: make bench ARGS="-run latency"; writes bench/results.json
	cd bench && $(GO) run . -json results.json $(ARGS)

fsck-scale: ## checks and repairs trees of a million rows, of several shapes, on every database: make fsck-scale ROWS=1000000; prints time and memory
	PATHLOCK_FSCK_ROWS=$(or $(ROWS),1000000) ./test/run.sh -timeout 2h -v -run TestScale

lint: ## gofmt, go vet and golangci-lint in every module
	./test/lint.sh

fmt:
	gofmt -w $$(git ls-files '*.go')

tidy: ## go mod tidy in every module
	for dir in $$($(GO) list -m -f '{{.Dir}}'); do (cd $$dir && GOWORK=off $(GO) mod tidy) || exit 1; done
