# Everything that this project does by command. `make test` is what CI runs.

GO ?= go

.PHONY: run test race-repeat lint fmt tidy

run: ## the sample app on embedded defaults: no server needed
	$(GO) run ./sample-app

test: ## lint and every test under -race, on real servers that it starts and stops
	./test/run.sh

race-repeat: ## the concurrency tests over and over: make race-repeat COUNT=50
	./test/run.sh -count=$(or $(COUNT),20) -run 'Concurrent|Race|Storm|Conformance'

lint: ## gofmt, go vet and golangci-lint in every module
	./test/lint.sh

fmt:
	gofmt -w $$(git ls-files '*.go')

tidy: ## go mod tidy in every module
	for dir in $$($(GO) list -m -f '{{.Dir}}'); do (cd $$dir && GOWORK=off $(GO) mod tidy) || exit 1; done
