# What people run: make bench. What must pass: make test.

GO ?= go

# A comparison runs in rounds (tools/rounds): all rows once, ROUNDS times over.
ROUNDS ?= 8
# Measured time of a row in one round.
BENCHTIME ?= 200ms
# Which benchmarks.
BENCH ?= .
# Where binaries and results go.
OUT ?= .out

# Runs all rows of a workload in rounds.
RUN = OUT=$(OUT) GO=$(GO) ROUNDS=$(ROUNDS) BENCH='$(BENCH)' BENCHTIME=$(BENCHTIME) ./tools/rounds
TABLES = $(GO) tool benchstat

.PHONY: test lint unit race fuzz bench sequential micro noise fio clean

# Everything that must pass.
test: lint unit race

lint:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "not gofmt-ed:" $$files; exit 1; fi
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOARCH=arm64 $(GO) vet ./...
	$(GO) tool staticcheck ./...

unit:
	$(GO) test ./...

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

# The noise floor: odd against even rounds of a workload's last run, which differ in nothing.
WORKLOAD ?= random
noise:
	@cat $$(ls $(OUT)/$(WORKLOAD)/round-*.txt | sed -n 'p;n') >$(OUT)/odd.txt
	@cat $$(ls $(OUT)/$(WORKLOAD)/round-*.txt | sed -n 'n;p') >$(OUT)/even.txt
	$(TABLES) -filter '-.name:Null .unit:sec/op' $(OUT)/odd.txt $(OUT)/even.txt

# The same reads by fio, random ones and scans, interleaved with ours, on the same file. Skips without fio.
fio:
	OUT=$(OUT) GO=$(GO) ROUNDS=$(ROUNDS) ./tools/fio-compare

clean:
	rm -rf $(OUT)
