# `make demo` shows what Sluice does, `make test` runs every test there is. Both set the machine up first: they install
# the system packages that are missing, and only those.

SWIFT ?= swift

.PHONY: demo test test-postgres postgres-order postgres-kills check lint format bench fuzz simulate planted docs written-docs api packages examples release setup test-peers torture storage-faults line proof queries threads lib deb daemon-kills soak soak-devices fleet try-deb setup-postgres tutorial pictures

demo: setup
	$(SWIFT) build --product sluice
	.build/debug/sluice demo $(ARGS)

test: setup lint examples
	$(SWIFT) build --build-tests
	@.ci/test
	@QUICK=1 .ci/simulate 2000 1
	@QUICK=1 .ci/storage 29 5
	@QUICK=1 STORE=encrypted .ci/storage 29 5

# Sluice with OData services and clients from PyPI, on loopback; skipped, with the reason, where they cannot be had.
test-peers: setup
	$(SWIFT) build --build-tests
	@.ci/peers

# The bytes that a slow line with lost answers costs, and the share that packing and batches leave.
line: setup
	$(SWIFT) build --product sluice
	@.ci/line
	@.ci/line --updates --rows 10000

# The backend's suites on a PostgreSQL server of their own: see docs/backend-postgres.md for what passes.
test-postgres: setup-postgres
	$(SWIFT) build --build-tests
	@.ci/postgres
	@SLUICE_TEST_BACKENDS=4 .ci/postgres --pooler
	@.ci/postgres Tests/Scripts/Postgres/order.sh
	@.ci/postgres --pooler Tests/Scripts/Postgres/order.sh
	@.ci/postgres Tests/Scripts/Postgres/kills.sh
	@.ci/postgres Tests/Scripts/Postgres/adopt.sh
	@.ci/postgres Tests/Scripts/Postgres/replica.sh
	@.ci/postgres Tests/Scripts/Postgres/failover.sh
	@.ci/postgres Tests/Scripts/Postgres/tls.sh
	@.ci/postgres Tests/Scripts/Postgres/full.sh

# 100,000 writes through four processes on PostgreSQL while readers pull; and that the test finds out where the order is lost.
postgres-order: setup-postgres
	$(SWIFT) build --product sluice
	@WRITES=100000 PLANTED_WRITES=20000 .ci/postgres Tests/Scripts/Postgres/order.sh

# Processes and the database are killed 500 times under load.
postgres-kills: setup-postgres
	$(SWIFT) build --product sluice
	@CYCLES=500 .ci/postgres Tests/Scripts/Postgres/kills.sh

# Lint and the tests of what has changed since main: for the inner loop. make test runs every one.
check: setup
	@.ci/check $(SINCE)

lint:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources Tests/Programs/Threads/Package.swift
	@.ci/conversions
	@.ci/closures
	@.ci/names
	@.ci/arrows --circles
	@.ci/planted --applies
	@.ci/version check

format:
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources Tests/Programs/Threads/Package.swift

# Figures against a plain C program in the same run, in a release build: make bench ONLY=pull runs one. The touch makes
# the package manager look again for files that were added to Sluice since. ONLY=live has two daemons and a server instead:
# how long changes take between them at 100 a second, and what 10,000 idle streams cost. ONLY=growth draws docs/images/growth.png
# from pulls and pushes of 1,000 to 1,000,000 rows. ONLY=load has a server hold 10,000
# idle connections while 200 write. ONLY=idle says how long the program takes to start, and what a daemon at rest holds.
bench: setup-postgres
ifeq ($(ONLY),live)
	$(SWIFT) build -c release --product sluice
	@SLUICE=.build/release/sluice .ci/daemon live 2000 10000
else ifeq ($(ONLY),load)
	$(SWIFT) build -c release --product sluice
	@SLUICE=.build/release/sluice .ci/daemon load 20000 10000
else ifeq ($(ONLY),idle)
	$(SWIFT) build -c release --product sluice
	@SLUICE=.build/release/sluice .ci/daemon idle 10000
else
	@.ci/setup bench
	cd Benchmarks && touch Package.swift && $(SWIFT) build -c release && ln -sf libsluice-c.so .build/release/libsluice.so
	@$(if $(filter-out backend,$(ONLY)),,.ci/postgres) Benchmarks/.build/release/bench $(if $(ONLY),--only $(ONLY)) $(if $(filter growth,$(ONLY)),| .ci/plot)
endif

# Follows docs/tutorial.md word for word in an empty folder, and prints the time of each part.
tutorial: setup
	$(SWIFT) build --product sluice
	@.ci/tutorial

# Draws the picture of README.md from a run.
pictures: setup
	$(SWIFT) build --product sluice
	@.ci/picture

# Feeds the readers of foreign text with whatever libFuzzer comes up with, each for ten minutes: make fuzz ONLY=odata
# (or json, or wire) runs one, SECONDS=60 runs shorter. See docs/fuzzing.md.
fuzz: setup
	@.ci/fuzz "$(ONLY)" "$(SECONDS)"

# What `make test` plays a part of, whole: 20,000 generated queries of the evaluator, the stores, the texts of OData and the
# backend; 102,000 pairs of requests and defining requests; 10,000 requests of the three stores; 80 histories of two devices;
# 20,000 requests of two users, none of whom may learn of the other's records.
queries: setup
	$(SWIFT) build --build-tests
	SLUICE_ALL_SEEDS=1 .ci/test --filter 'DifferentialTests|CoverageTests|SameRowsTests|HistoryTests|LeakTests'

# What a change of the engine needs to have been through: fresh seeds, kills, and every 7th storage fault. What was played
# goes into Tests/Data/Records/campaigns.md, which says what a release needs. CORES=1 leaves the others to you.
proof: simulate torture storage-faults

# Plays seeded stories of devices and a server, on all cores: the next ones that nobody has played, make simulate
# SEEDS=100000, or others with FROM=1. See docs/simulator.md. STORE=encrypted has devices keep their data in encrypted stores,
# DIALECT=odata-v4 has them speak to an OData service.
simulate: setup
	@.ci/simulate "$(or $(SEEDS),20000)" "$(FROM)" note

# Turns each fault of Tests/Data/planted.patch on and looks for the seed that finds it: writes
# Tests/Data/Records/planted-faults.md.
planted: setup
	@.ci/planted "$(or $(SEEDS),10000)"

# Ends real processes in the middle of their work: the next cycles, make torture CYCLES=10000, or others with FROM=1. See
# docs/durability.md. STORE=encrypted does so with encrypted stores, and while they get other keys.
torture: setup
	@.ci/torture "$(or $(CYCLES),500)" "$(FROM)" "$(SEED)" note

# Kills and stops a daemon and its gateway in the middle of their work: make daemon-kills CYCLES=1000 SEED=7. See
# Tests/Data/Records/campaigns.md.
daemon-kills: setup
	$(SWIFT) build --product sluice
	@.ci/daemon kills "$(or $(CYCLES),100)" "$(SEED)"

# Has a daemon run with churn, a network that comes and goes, reloads and restarts of the server: make soak SECONDS=3600.
soak: setup
	$(SWIFT) build --product sluice
	@.ci/daemon soak "$(or $(SECONDS),3600)" "$(SEED)"

# Has twenty daemons follow a good release of a policy, one that fails and goes back, and a better one: make fleet DEVICES=20.
fleet: setup
	$(SWIFT) build -c release --product sluice
	@SLUICE=.build/release/sluice .ci/daemon fleet "$(or $(DEVICES),20)"

# One server with five devices and churn, on SQLite and then on PostgreSQL: make soak-devices SECONDS=3600.
soak-devices: setup-postgres
	$(SWIFT) build --product sluice
	@.ci/daemon devices "$(or $(SECONDS),3600)" "$(SEED)"
	@.ci/postgres .ci/daemon devices "$(or $(SECONDS),3600)" "$(SEED)"

# Has every 7th call to the file system fail, in every way: make storage-faults STRIDE=1 has every call fail,
# STORE=encrypted those of encrypted stores.
storage-faults: setup
	@.ci/storage "$(or $(STRIDE),7)" "$(SEED)" note

# The library for C, Python and other languages: make lib DEST=folder puts sluice.h, libsluice.so and sluice.pc there, and
# nothing else. See docs/c.md.
lib: setup
	@.ci/lib "$(DEST)"

# Has many threads use one context and its plugins at once, with ThreadSanitizer watching: make threads SECONDS=60. See
# docs/simulator.md.
threads: setup
	@.ci/threads "$(or $(SECONDS),60)"

# Writes what tests put into the documentation anew.
written-docs:
	SLUICE_WRITE_DOCS=1 $(SWIFT) test --filter "WireSessionTests|ConformancePageTests|HTTPCaseTests|HostilePageTests|ProbePageTests|PluginAPITests|SettingsTests|StampedeTests"

# The reference as static HTML in .build-docs/html: the comments of the public API, and the pages of docs/ as its articles.
docs: setup
	$(SWIFT) build
	@.ci/docs

# The public API against the list of the last release: what was added and removed. WRITE=1 writes the list anew.
api: setup
	$(SWIFT) build
	@.ci/api $(if $(WRITE),--write)

# The packages of Examples, and their own tests: make examples ONLY=todo builds one.
examples: setup
	@.ci/examples $(ONLY)

# Three packages that depend on this one: what each fetches, and how long its first build takes.
packages:
	@.ci/packages

# The Debian package, in this folder: a release build, about half an hour on two cores. BINARY=FILE packs another program.
deb: setup
	@.ci/deb .

# Tries that package on a scratch root: install, daemon and server as their units run them, upgrade with changes waiting,
# removal. BINARY=FILE tries another program than the debug build.
try-deb: setup
	$(if $(BINARY),,$(SWIFT) build --product sluice)
	@.ci/deb-try $(BINARY)

# A release of the version that .ci/version prints, in .build-release: Debian package, source archive, container file, bill of
# materials, checksums. See CONTRIBUTING.md.
release: setup
	@.ci/release

setup:
	@.ci/setup

# What only the tests on PostgreSQL need besides.
setup-postgres: setup
	@.ci/setup postgres
