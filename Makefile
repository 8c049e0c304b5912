# Every target is one command that also works without make.

.PHONY: help demo test test-fast crash build lint bench bench-sessions bench-environments bench-web
.DEFAULT_GOAL := help

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' Makefile

demo: ## build, and carry the request of a small new repository to a merged change
	@sh scripts/demo.sh

test: ## install what tests need, then check and test everything
	@sh scripts/test.sh

test-fast: ## go vet and the fast tests: nothing is installed or downloaded
	@sh scripts/suite.sh fast

crash: ## kill runs at 200 random instants, and at every other one that the tests know
	go test -timeout 3h -run 'Killed' ./internal/cli -kills 200
	go test -timeout 1h -run 'Killed' ./internal/environment/clone -sweep all
	go test -timeout 1h -run 'TestForge' ./internal/forge/github -sweep all
	go test -timeout 1h -run 'TestForge' ./internal/forge/gitlab -sweep all
	SIGNALBOX_GITEA=$$(sh scripts/gitea.sh) && export SIGNALBOX_GITEA && go test -timeout 1h -run 'TestForge' ./internal/forge/gitea -sweep all &&\
	go test -timeout 1h -run 'RealGitea' ./internal/perform -sweep all
	SIGNALBOX_TEST_ALL=1 go test -timeout 1h -run 'Crowd|Refused' ./internal/store

build: ## build bin/signalbox, and beside it the programs for containers and for agents
	CGO_ENABLED=0 go build -o bin/ ./cmd/...

lint: ## run golangci-lint, built at its pinned version on first use
	@sh scripts/lint.sh

bench: ## measure what Signalbox costs, and write it to docs/performance.md
	go test -run '^$$' -bench '$(BENCHMARKS)' -count 3 -timeout 1h ./internal/store ./internal/cli | go run ./scripts/performance docs/performance.md

bench-sessions: ## measure what watching sessions costs, and write it to docs/performance-sessions.md
	go test -run '^$$' -bench '^Benchmark(Watch|Flood)$$' -benchtime 1x -timeout 1h ./internal/session | go run ./scripts/performance docs/performance-sessions.md

bench-web: ## measure what pages cost, and write it to docs/web.md
	go test -run '^$$' -bench '^Benchmark(Change|FirstView|IdlePages)$$' -benchtime 1x -timeout 1h ./internal/web | go run ./scripts/performance docs/web.md

bench-environments: ## measure what environments cost, and write it to docs/performance-environments.md
	{ go test -run '^$$' -bench '^BenchmarkWarm(Growth)?$$/^(overlay|private|shared)$$' -benchtime 1x -timeout 2h ./internal/environment/clone; \
	go test -run '^$$' -bench '^Benchmark(Exec|Start)$$' -benchtime 100x ./internal/environment/clone ./internal/environment/container; } | \
		go run ./scripts/performance docs/performance-environments.md

BENCHMARKS = ^Benchmark(Transition|WholeRun|Update|Environments|Listing|IssueList|ColdStart)$$
