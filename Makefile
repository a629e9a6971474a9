# `make test` is the README's test command.
GO ?= go

.PHONY: build test race lint vet fuzz bench golden corpora hostile hostile-files hostile-agents histories crash candidates steps torrent e2e e2e-agents simulation fleet fleet-server cross integrity cheats guarded heldout carried sweep publish ci

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/supervise ./cmd/supervise

test:
	$(GO) test ./...

race:
	GORACE=atexit_sleep_ms=10 $(GO) test -race $$($(GO) run ./test/concurrent)

vet:
	$(GO) vet ./...

# Other systems have to compile. Windows reports missing features at run time.
cross:
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

lint:
	golangci-lint run ./...

# FUZZTIME=2m FUZZJOBS=2 make fuzz; FUZZ=Tap for functions of that name only
FUZZTIME ?= 20s
FUZZJOBS ?= 1
FUZZ ?= .
fuzz:
	@GO=$(GO) .ci/fuzz $(FUZZTIME) $(FUZZJOBS) '$(FUZZ)'

# bench/ is a separate module: it compares supervise with other projects.
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...
	cd bench && $(GO) test -run '^$$' -bench . -benchmem .

# fleet/ is a separate module, and so is its server for tests, which takes some minutes to
# build once. The tests kill workers and server KILLS times while twelve tasks run.
KILLS ?= 50
fleet-server:
	cd fleet/devserver && CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o ../../bin/supervise-fleet-server .

fleet: fleet-server
	cd fleet && SUPERVISE_FLEET_SERVER="$(CURDIR)/bin/supervise-fleet-server" SUPERVISE_FLEET_KILLS=$(KILLS) SUPERVISE_SEED=$(SEED) \
	  $(GO) test -count=1 -timeout 60m ./...

# Reads a gigabyte of each input that is made to break readers.
hostile:
	SUPERVISE_HOSTILE_MB=1024 $(GO) test -count=1 -timeout 60m -v -run Hostile ./parsers ./coverage | grep -v '^=== '

# Replaces each file that supervise reads from a repository by pipes, devices, links and huge
# files.
hostile-files:
	SUPERVISE_HOSTILE_FILES=1 $(GO) test -count=1 -timeout 60m -parallel 4 -run 'TestHostileFiles$$' ./cmd/supervise

# Runs the agents of cmd/supervise/testdata/hostileagents.txtar on a tree, compares the tree
# with the last line of the output, and prints a table. AGENTS="rm-git fifos" for only these,
# AGENTS=short for those of CI. As root it also uses an ordinary user and cgroups.
hostile-agents:
	@mkdir -p bin
	SUPERVISE_HOSTILE_AGENTS="$(or $(AGENTS),all)" SUPERVISE_HOSTILE_TABLE="$(CURDIR)/bin/hostile-agents.md" \
	  $(GO) test -count=1 -timeout 120m -parallel 4 -run '^TestHostileAgents$$' ./cmd/supervise
	@cat bin/hostile-agents.md

# Random loops: the selection is never worse than the baseline, progress is no stall, only a
# repeated period is an infinite loop, and record decides as run does. And random changes of
# a small project: audit, hook, loop and merge gate agree on each.
HISTORIES ?= 10000
FACES ?= 10
histories:
	SUPERVISE_HISTORIES=$(HISTORIES) $(GO) test -count=1 -run '^TestRandomHistories$$' ./internal/record
	SUPERVISE_FACES=$(FACES) SUPERVISE_SEED=$(SEED) $(GO) test -count=1 -timeout 1h -run '^TestFacesAgree$$' ./cmd/supervise

# Kills supervise CRASHES times at random moments: two thirds during loops that are resumed,
# one third during any command, with a user at work in between. A failed run prints its
# seed: make crash SEED=...
CRASHES ?= 1000
SEED ?=
crash:
	SUPERVISE_CRASHES=$(CRASHES) SUPERVISE_SEED=$(SEED) $(GO) test -count=1 -timeout 2h -v -run '^TestCrash(User)?$$' ./cmd/supervise

# MIXES groups of four scripted agents, some of them right, in Go, Python and Node each:
# prints which candidates were selected. Then kills supervise 200 times during candidates.
MIXES ?= 20
candidates:
	SUPERVISE_CANDIDATE_MIXES=$(MIXES) SUPERVISE_SEED=$(SEED) $(GO) test -count=1 -timeout 2h -v -run '^TestE2ECandidateMixes$$' ./cmd/supervise
	SUPERVISE_CRASHES=600 SUPERVISE_SEED=$(SEED) $(GO) test -count=1 -timeout 2h -v -run '^TestCandidateCrash$$' ./cmd/supervise

# An agent that prints ten gigabytes, runs that may not lose a byte, and trees of a thousand
# processes.
TORRENT_MB ?= 10240
torrent:
	SUPERVISE_TORRENT_MB=$(TORRENT_MB) $(GO) test -count=1 -timeout 60m -v -run TestE2ETorrent ./cmd/supervise | grep -v '^=== '
	SUPERVISE_RUNS=1000 $(GO) test -count=1 -timeout 60m -v -run 'TestNothingIsLost/(burst|killed)|TestShortLived|TestHostileTree/./many' ./runner | grep -v '^=== '

# Kills every operation on a snapshot store before each of its steps.
steps:
	SNAPSHOT_TEST_ALL_STEPS=1 $(GO) test -count=1 -timeout 2h -v -run 'KilledAtEveryStep' ./snapshot | grep -v '^=== '

# Installs the tools of other languages, measures real projects with them, and runs the tests
# that take long.
e2e:
	.ci/e2e

# Installs real agent programs and supervises them with a scripted model server, without any
# network: docs/agents.md. AGENTS="codex claude", FLAGS="-test.run /honest"
AGENTS ?=
e2e-agents:
	.ci/e2e-agents $(AGENTS) $(FLAGS)

# Counts the iterations that a scripted model needs with and without evidence in its prompt:
# docs/agents.md. RUNS of each task.
RUNS ?= 10
simulation:
	SUPERVISE_SIMULATION=$(RUNS) $(GO) test -count=1 -timeout 1h -v -run '^TestE2ESimulation$$' ./cmd/supervise | grep -v '^=== '

# Measures the integrity rules: recall on injected tampering, false positives on real
# commits. REPOS, or TUNE and REPORT, are git directories; without any, this
# repository and generated tiny projects. FLAGS="-json", "-examples 3", "-mutators 15-21"
REPOS ?=
TUNE ?= $(REPOS)
REPORT ?=
FLAGS ?=
integrity: build
	@cd bench && $(GO) run ./tamper -binary "$(CURDIR)/bin/supervise" $(FLAGS) \
	  $(if $(strip $(TUNE)$(REPORT)),$(if $(TUNE),-tune $(abspath $(TUNE))) $(if $(REPORT),-report $(abspath $(REPORT))),-tiny -samples 1 -bases 4 -negatives 60 -tune "$(CURDIR)")

# Cases by authors who did not know the rules: bench/results/heldout.md. ONLY=c04 for one.
SET ?= second
heldout: build
	@cases="$$(mktemp -d)"; tar -xzf bench/heldout/$(SET).tar.gz -C "$$cases"; cd bench && \
	  $(GO) run ./heldout -binary "$(CURDIR)/bin/supervise" -only "$(ONLY)" "$$cases/$(SET)"/*; rm -rf "$$cases"

# Judges published cheats and honest refactorings with real pytest: the benchmarks of
# checkwash, from PyPI or from the folder SDIST. It prints only totals for the odd half of
# the cases. FLAGS="-loop", "-half even -notes", "-only NAME"
SDIST ?=
cheats: build
	@cd bench && $(GO) run ./cheats -binary "$(CURDIR)/bin/supervise" $(if $(SDIST),-sdist "$(abspath $(SDIST))") $(FLAGS)

# Runs the merge gate on the solutions of HumanEval, with tests that notice nothing, half, or all.
guarded: build
	@cd bench && $(GO) run ./guarded -binary "$(CURDIR)/bin/supervise" $(FLAGS)

# Replays 100 commits of Go repositories in a loop, and compares each verdict, cached or not,
# with a full run. REPOS are git directories.
carried: build
	@cd bench && $(GO) run ./carried -binary "$(CURDIR)/bin/supervise" $(FLAGS) $(abspath $(REPOS))

# Measures public repositories, compares the results with their own commands, and writes
# bench/results/sweep.md: bench/sweep/README.md. Clones them, or uses the folder SWEEP_MIRROR.
# FLAGS="-language rust", "-only jsoup -again", "-last 1"
sweep: build
	@cd bench && $(GO) run ./sweep -binary "$(CURDIR)/bin/supervise" -commit "$$(git rev-parse --short HEAD)" $(FLAGS)

# Rewrites the golden files; read the diff before you commit it. The generated parts of docs/
# name the command that writes them.
golden:
	$(GO) test ./parsers ./coverage ./internal/report ./internal/hook -update

# Reads collections of real reports and compares the results with the expected ones, in a
# folder with expected-*.json and reports.tar.gz. make corpora CORPORA=folder
CORPORA ?= $(firstword $(wildcard ../corpora ../*/corpora))
corpora:
	@test -f "$(CORPORA)/reports.tar.gz" || { echo "no corpora: name their folder with CORPORA=..."; exit 2; }
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && cp "$(CORPORA)"/expected-*.json "$$dir" && \
	  tar -xzf "$(CORPORA)/reports.tar.gz" -C "$$dir" && \
	  SUPERVISE_CORPORA="$$dir" $(GO) test -count=1 -v -run Corpora ./parsers ./coverage | grep -v '^=== '

# Writes a copy of the last commit for release under its public address:
# make publish MODULE=host/owner/name OUT=folder
publish:
	.ci/publish "$(MODULE)" "$(OUT)"

ci:
	.ci/run
