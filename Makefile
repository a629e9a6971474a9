# The targets of the house. `make test` is the README's test command.
GO ?= go

.PHONY: build test race lint vet fuzz bench golden cross ci

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/supervise ./cmd/supervise

test:
	$(GO) test ./...

race:
	$(GO) test -race ./...

vet:
	$(GO) vet ./...

# The other systems have to compile; Windows says at run time what it lacks.
cross:
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

lint:
	golangci-lint run ./...

# FUZZTIME=2m make fuzz
FUZZTIME ?= 20s
fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg; \
	  done; done

# bench/ is a module of its own: it compares with other projects.
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...
	cd bench && $(GO) test -run '^$$' -bench . -benchmem .

# Writes the golden files anew; read the diff before committing it.
golden:
	$(GO) test ./parsers ./coverage ./internal/report -update

ci:
	.ci/run
