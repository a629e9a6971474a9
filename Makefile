# The targets of the house. `make test` is the README's test command.
GO ?= go

.PHONY: build test race lint vet fuzz bench golden corpora hostile hostile-files hostile-agents histories crash candidates steps torrent e2e e2e-agents simulation fleet fleet-server cross integrity cheats carried sweep publish ci

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/supervise ./cmd/supervise

test:
	$(GO) test ./...

race:
	GORACE=atexit_sleep_ms=10 $(GO) test -race $$($(GO) run ./test/concurrent)

vet:
	$(GO) vet ./...

# The other systems have to compile; Windows says at run time what it lacks.
cross:
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

lint:
	golangci-lint run ./...

# FUZZTIME=2m FUZZJOBS=2 make fuzz; FUZZ=Tap for those of that name alone
FUZZTIME ?= 20s
FUZZJOBS ?= 1
FUZZ ?= .
fuzz:
	@GO=$(GO) .ci/fuzz $(FUZZTIME) $(FUZZJOBS) '$(FUZZ)'

# bench/ is a module of its own: it compares with other projects.
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...
	cd bench && $(GO) test -run '^$$' -bench . -benchmem .

# fleet/ is a module of its own, and its server for tests another one: it takes some minutes
# to build, once. Workers and server are killed KILLS times while twelve tasks run.
KILLS ?= 50
fleet-server:
	cd fleet/devserver && CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o ../../bin/supervise-fleet-server .

fleet: fleet-server
	cd fleet && SUPERVISE_FLEET_SERVER="$(CURDIR)/bin/supervise-fleet-server" SUPERVISE_FLEET_KILLS=$(KILLS) SUPERVISE_SEED=$(SEED) \
	  $(GO) test -count=1 -timeout 60m ./...

# Reads a gigabyte of each thing that was made to break readers.
hostile:
	SUPERVISE_HOSTILE_MB=1024 $(GO) test -count=1 -timeout 60m -v -run Hostile ./parsers ./coverage | grep -v '^=== '

# Puts pipes, devices, links and huge files in the place of each file that supervise
# reads from a repository.
hostile-files:
	SUPERVISE_HOSTILE_FILES=1 $(GO) test -count=1 -timeout 60m -parallel 4 -run 'TestHostileFiles$$' ./cmd/supervise

# Lets the agents of cmd/supervise/testdata/hostileagents.txtar loose on a tree, compares it
# with what the last line says, and prints a table. AGENTS="rm-git fifos" for those alone,
# AGENTS=short for what CI runs. As root it tries an ordinary user and cgroups as well.
hostile-agents:
	@mkdir -p bin
	SUPERVISE_HOSTILE_AGENTS="$(or $(AGENTS),all)" SUPERVISE_HOSTILE_TABLE="$(CURDIR)/bin/hostile-agents.md" \
	  $(GO) test -count=1 -timeout 120m -parallel 4 -run '^TestHostileAgents$$' ./cmd/supervise
	@cat bin/hostile-agents.md

# Random loops: what is selected is never less than the baseline, progress is no stall,
# nothing but a repeated period is an infinite loop, and record decides as run does. And
# random changes of a small project: audit, hook, loop and merge gate agree on each.
HISTORIES ?= 10000
FACES ?= 10
histories:
	SUPERVISE_HISTORIES=$(HISTORIES) $(GO) test -count=1 -run '^TestRandomHistories$$' ./internal/record
	SUPERVISE_FACES=$(FACES) SUPERVISE_SEED=$(SEED) $(GO) test -count=1 -timeout 1h -run '^TestFacesAgree$$' ./cmd/supervise

# Kills supervise at random moments, that many times: two thirds of them loops that are
# resumed, one third all commands, with a user at work in between. A run that failed
# prints its seed: make crash SEED=...
CRASHES ?= 1000
SEED ?=
crash:
	SUPERVISE_CRASHES=$(CRASHES) SUPERVISE_SEED=$(SEED) $(GO) test -count=1 -timeout 2h -v -run '^TestCrash(User)?$$' ./cmd/supervise

# Mixes of four scripted agents, of which some are right, in Go, Python and Node: MIXES of
# each, and whom they have chosen. Then 200 kills of supervise while candidates work.
MIXES ?= 20
candidates:
	SUPERVISE_CANDIDATE_MIXES=$(MIXES) SUPERVISE_SEED=$(SEED) $(GO) test -count=1 -timeout 2h -v -run '^TestE2ECandidateMixes$$' ./cmd/supervise
	SUPERVISE_CRASHES=600 SUPERVISE_SEED=$(SEED) $(GO) test -count=1 -timeout 2h -v -run '^TestCandidateCrash$$' ./cmd/supervise

# An agent that prints ten gigabytes, runs after which no byte may be missing, and trees
# of a thousand processes.
TORRENT_MB ?= 10240
torrent:
	SUPERVISE_TORRENT_MB=$(TORRENT_MB) $(GO) test -count=1 -timeout 60m -v -run TestE2ETorrent ./cmd/supervise | grep -v '^=== '
	SUPERVISE_RUNS=1000 $(GO) test -count=1 -timeout 60m -v -run 'TestNothingIsLost/(burst|killed)|TestShortLived|TestHostileTree/./many' ./runner | grep -v '^=== '

# Kills every kind of work on a snapshot store before each step that it makes.
steps:
	SNAPSHOT_TEST_ALL_STEPS=1 $(GO) test -count=1 -timeout 2h -v -run 'KilledAtEveryStep' ./snapshot | grep -v '^=== '

# Measures real projects of other languages with their real tools, which it installs.
e2e:
	.ci/e2e

# Supervises real agent programs, which it installs, against a scripted model server,
# without any network: docs/agents.md. AGENTS="codex claude", FLAGS="-test.run /honest"
AGENTS ?=
e2e-agents:
	.ci/e2e-agents $(AGENTS) $(FLAGS)

# How many iterations a scripted model takes with the evidence in its prompt, and without:
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

# Judges cheats and honest refactorings that others published, with real pytest: the
# benchmarks of checkwash, fetched from PyPI or in the folder SDIST. Of the odd half of
# the cases it prints totals alone. FLAGS="-loop", "-half even -notes", "-only NAME"
SDIST ?=
cheats: build
	@cd bench && $(GO) run ./cheats -binary "$(CURDIR)/bin/supervise" $(if $(SDIST),-sdist "$(abspath $(SDIST))") $(FLAGS)

# Replays 100 commits of Go repositories in a loop, and compares each verdict, carried from
# Go's cache or not, with a full run. REPOS are git directories.
carried: build
	@cd bench && $(GO) run ./carried -binary "$(CURDIR)/bin/supervise" $(FLAGS) $(abspath $(REPOS))

# Measures public repositories beside their own commands, and writes bench/results/sweep.md:
# bench/sweep/README.md. They are cloned, or in the folder SWEEP_MIRROR.
# FLAGS="-language rust", "-only jsoup -again", "-last 1"
sweep: build
	@cd bench && $(GO) run ./sweep -binary "$(CURDIR)/bin/supervise" -commit "$$(git rev-parse --short HEAD)" $(FLAGS)

# Writes the golden files anew; read the diff before committing it. The generated parts of
# docs/ name the command that writes them.
golden:
	$(GO) test ./parsers ./coverage ./internal/report ./internal/hook -update

# Reads collections of real reports and compares with what is known of them: a
# folder with expected-*.json and reports.tar.gz. make corpora CORPORA=folder
CORPORA ?= $(firstword $(wildcard ../corpora ../*/corpora))
corpora:
	@test -f "$(CORPORA)/reports.tar.gz" || { echo "no corpora: name their folder with CORPORA=..."; exit 2; }
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && cp "$(CORPORA)"/expected-*.json "$$dir" && \
	  tar -xzf "$(CORPORA)/reports.tar.gz" -C "$$dir" && \
	  SUPERVISE_CORPORA="$$dir" $(GO) test -count=1 -v -run Corpora ./parsers ./coverage | grep -v '^=== '

# Writes a copy of the last commit that can be released under its public address:
# make publish MODULE=host/owner/name OUT=folder
publish:
	.ci/publish "$(MODULE)" "$(OUT)"

ci:
	.ci/run
