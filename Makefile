# What people run: make bench. What must pass: make test.

GO ?= go

# A comparison runs in rounds (tools/rounds): all rows once, ROUNDS times over.
ROUNDS ?= 8
# Measured time of a row in one round.
BENCHTIME ?= 200ms
# Which benchmarks: if it is not given, a target that needs only some of them takes those (chosen).
chosen = $(if $(filter file,$(origin BENCH)),$(1),$(BENCH))
BENCH ?= .
# Where binaries and results go.
OUT ?= .out

# Runs all rows of a workload in rounds.
RUN = OUT=$(OUT) GO=$(GO) ROUNDS=$(ROUNDS) BENCH='$(BENCH)' BENCHTIME=$(BENCHTIME) ./tools/rounds
TABLES = $(GO) tool benchstat

.PHONY: test lint unit race fuzz bench sequential micro uring policies storedfields rerank noise duel verdict fio clean

# Everything that must pass.
test: lint unit race

lint:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "not gofmt-ed:" $$files; exit 1; fi
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOARCH=arm64 $(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) tool revive -config .revive.toml ./...

# giouring, the second engine of io_uring, pulls a runtime function by linkname: it is behind a tag, and takes this flag to link.
GIOURING = -tags=giouring -ldflags=-checklinkname=0

unit:
	$(GO) test ./...
	$(GO) test $(GIOURING) ./internal/uring
	$(GO) test $(GIOURING) -run='Uring|Ring|Pipelin|BuiltIn' ./readbench ./readbench/strategies

race:
	$(GO) test -race ./...

# Each fuzz test for a while.
FUZZTIME ?= 20s
fuzz:
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    $(GO) test -run='^$$' -fuzz="^$$f$$" -fuzztime=$(FUZZTIME) $$pkg || exit 1; \
	  done; \
	done

# Random reads, hot and cold, T1 to T16: tables of throughput, and of the evidence beside it.
bench:
	@status=0; $(RUN) random || status=1; \
	$(TABLES) -row /case,/read,/threads -col .name -filter '-.name:Null .unit:ops/ms' $(OUT)/random.txt || status=1; \
	$(TABLES) -row /case,/read,/threads -col .name -filter '-.name:Null .unit:(dev-B/op OR majflt/op OR madvise/op)' $(OUT)/random.txt | grep -v '^[a-z-]*: '; \
	exit $$status

# Forward scans, hot and cold, reads of 16 KiB to 1 MiB: bandwidth, and what the device delivered for each byte that was read.
sequential:
	@status=0; $(RUN) sequential || status=1; \
	$(TABLES) -row .name,/case,/threads -col /read -filter '-.name:Null .unit:B/s' $(OUT)/sequential.txt || status=1; \
	$(TABLES) -row .name,/case,/threads -col /read -filter '-.name:Null .unit:dev-B/B' $(OUT)/sequential.txt | grep -v '^[a-z-]*: '; \
	exit $$status

# Probes and hints, one kernel call at a time, and page faults per second.
micro:
	@status=0; $(RUN) prefetchmicro || status=1; \
	$(TABLES) -row .name,/advice,/read,/threads -col /case -filter '-.name:(Null OR Faults) .unit:sec/op' $(OUT)/prefetchmicro.txt || status=1; \
	$(TABLES) -row /case,/mapping -col /threads -filter '.name:Faults .unit:faults/s' $(OUT)/prefetchmicro.txt | grep -v '^[a-z-]*: '; \
	exit $$status

# Random reads through io_uring on both engines, beside direct and buffered pread.
uring: override export GOFLAGS := $(GOFLAGS) $(GIOURING)
uring: BENCH := $(call chosen,(Uring|Pread$$|PreadDirect$$))
uring:
	@status=0; mkdir -p $(OUT)/uring; OUT=$(OUT)/uring GO=$(GO) ROUNDS=$(ROUNDS) BENCH='$(BENCH)' BENCHTIME=$(BENCHTIME) ./tools/rounds random || status=1; \
	$(TABLES) -row .name,/engine,/case -col /threads -filter '.unit:ops/ms' $(OUT)/uring/random.txt || status=1; \
	exit $$status

# The A/B of the prefetch policies (READBENCH_POLICIES: all of them, if not set) on a mapping advised MADV_RANDOM, between hot and cold: throughput,
# and each policy's share of the best of its case and number of threads. Cases, threads and the rest as READBENCH_* say, if they are set.
policies: export READBENCH_POLICIES ?= none,always,loaded,backoff,backoff-local,slowclimb,runlength,bitmap,adaptive
policies: export READBENCH_CASES ?= hot,mixed1,mixed10,mixed50,cold,pressure110,pressure200
policies: export READBENCH_THREADS ?= 1,8
policies: BENCH := $(call chosen,BenchmarkMmapRandomPrefetch$$)
policies:
	@status=0; mkdir -p $(OUT)/policies; OUT=$(OUT)/policies GO=$(GO) ROUNDS=$(ROUNDS) BENCH='$(BENCH)' BENCHTIME=$(BENCHTIME) ./tools/rounds random || status=1; \
	$(TABLES) -col /policy -row /case,/threads -filter '.unit:ops/ms' $(OUT)/policies/random.txt || status=1; \
	$(GO) run ./tools/policyshare $(OUT)/policies/random/round-*.txt || status=1; \
	exit $$status

# A search engine's stored fields, retrieved without prefetch, with prefetch of whole blocks, and of what is needed of them (span), on a mapping advised
# MADV_RANDOM: documents per second, and the bytes that the device delivered for each. READBENCH_LUCENE_INDEX is an index of one's own.
storedfields: export READBENCH_POLICIES ?= none,always,loaded,backoff,slowclimb,adaptive
storedfields: export READBENCH_CASES ?= hot,pressure110,pressure200
storedfields: export READBENCH_THREADS ?= 1,8
storedfields: export READBENCH_TOPK ?= 100
storedfields: BENCH := $(call chosen,(RetrieveMmapRandom|PrefetchThenReadMmapRandom)$$)
storedfields:
	@status=0; $(RUN) storedfields || status=1; \
	$(TABLES) -row .name,/prefetch,/policy -col /case,/threads -filter '.unit:docs/s' $(OUT)/storedfields.txt || status=1; \
	$(TABLES) -row .name,/prefetch,/policy -col /case,/threads -filter '.unit:dev-B/doc' $(OUT)/storedfields.txt | grep -v '^[a-z-]*: '; \
	exit $$status

# Vector rerank under memory pressure, the file 4 times the memory: queries in a closed loop, and the rate of queries in an open one that keeps the
# service level (READBENCH_SLA_P99), by backend. SLA is searched for once in each of SLA_ROUNDS rounds.
SLA_ROUNDS ?= 1
rerank: export READBENCH_CASES ?= pressure400
rerank: export READBENCH_METRICS ?= all
rerank: BENCH := $(call chosen,Query$$)
rerank:
	@status=0; mkdir -p $(OUT)/sla; $(RUN) rerank || status=1; \
	OUT=$(OUT)/sla GO=$(GO) ROUNDS=$(SLA_ROUNDS) BENCH='SLA$$' BENCHTIME=1x ./tools/rounds rerank || status=1; \
	$(TABLES) -row /backend,/engine,/policy -col /threads -filter '.unit:(queries/s OR sec/op OR p99-sec/op OR ctxsw/op OR cpu-sec/op OR qd)' $(OUT)/rerank.txt || status=1; \
	$(TABLES) -row /backend,/engine,/policy -col .name -filter '.unit:(queries/s OR open-p50-sec/op OR open-p99-sec/op OR ctxsw/op OR cpu-sec/op OR qd)' $(OUT)/sla/rerank.txt | grep -v '^[a-z-]*: '; \
	exit $$status

# The noise floor: odd against even rounds of a workload's last run, which differ in nothing.
WORKLOAD ?= random
noise:
	@[ $$(ls $(OUT)/$(WORKLOAD)/round-*.txt | wc -l) -ge 2 ] || { echo "noise: $(OUT)/$(WORKLOAD) has no two rounds to compare; first: make bench" >&2; exit 1; }
	@cat $$(ls $(OUT)/$(WORKLOAD)/round-*.txt | sed -n 'p;n') >$(OUT)/odd.txt
	@cat $$(ls $(OUT)/$(WORKLOAD)/round-*.txt | sed -n 'n;p') >$(OUT)/even.txt
	$(TABLES) -filter '-.name:Null .unit:sec/op' $(OUT)/odd.txt $(OUT)/even.txt

# Two strategies of a workload take turns (tools/duel): which is faster, and by how much, for each case and number of threads: make duel A=Pread B=ReadAt.
# DUEL are further flags, such as -budget=30s.
DUEL ?=
duel:
	@[ -n "$(A)" ] && [ -n "$(B)" ] || { echo "duel: name two strategies: make duel A=Pread B=ReadAt" >&2; exit 2; }
	$(GO) run ./tools/duel -bench='^Benchmark$(A)$$' -against='^Benchmark$(B)$$' $(DUEL) ./readbench/$(WORKLOAD)

# All strategies of a workload race: which is the fastest, and by how much.
verdict: export READBENCH_THREADS ?= 1,16
verdict:
	$(GO) run ./tools/duel -race -bench='$(BENCH)' -budget=4s $(DUEL) ./readbench/$(WORKLOAD)

# The same reads by fio, random ones and scans, interleaved with ours, on the same file. Skips without fio.
fio:
	OUT=$(OUT) GO=$(GO) ROUNDS=$(ROUNDS) ./tools/fio-compare

clean:
	rm -rf $(OUT)
