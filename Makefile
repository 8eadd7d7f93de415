# What people run: make bench. What must pass: make test.

GO ?= go

# A comparison runs in rounds: all rows once, ROUNDS times over, so that the drift of a shared disk falls on all rows alike.
ROUNDS ?= 8
# Measured time of a row in one round.
BENCHTIME ?= 200ms
# Which benchmarks.
BENCH ?= .
# Where binaries and results go.
OUT ?= .out

# Strategies as columns, case and threads as rows, a table for each unit.
TABLES = $(GO) tool benchstat -row /case,/threads -col .name

.PHONY: test lint unit race fuzz bench noise fio clean

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
	@mkdir -p $(OUT) && rm -f $(OUT)/round-*.txt
	$(GO) test -c -o $(OUT)/random.test ./readbench/random
	@# Stops here if a setting, or a file of one's own, is wrong.
	@$(OUT)/random.test -test.run='^$$' -test.bench="$${READBENCH_FILE:+BenchmarkPreadDirect/}^$$" >/dev/null
	@if [ -z "$$READBENCH_FILE" ]; then $(GO) run ./tools/mkfile -size $${READBENCH_SIZE:-1GiB} -seed $${READBENCH_SEED:-1} >&2; fi
	@status=0; for round in $$(seq -w $(ROUNDS)); do \
	  echo "# round $$round of $(ROUNDS)" >&2; \
	  $(OUT)/random.test -test.run='^$$' -test.bench='$(BENCH)' -test.benchtime=$(BENCHTIME) >$(OUT)/round-$$round.txt || status=1; \
	done; \
	cat $(OUT)/round-*.txt >$(OUT)/bench.txt; \
	$(TABLES) -filter '-.name:Null .unit:ops/ms' $(OUT)/bench.txt || status=1; \
	$(TABLES) -filter '-.name:Null .unit:(dev-B/op OR majflt/op OR madvise/op)' $(OUT)/bench.txt | grep -v '^[a-z-]*: '; \
	if [ $$status != 0 ]; then grep -A3 -e '--- FAIL' $(OUT)/bench.txt >&2; fi; exit $$status

# The noise floor: odd against even rounds of the last "make bench", which differ in nothing.
noise:
	@cat $$(ls $(OUT)/round-*.txt | sed -n 'p;n') >$(OUT)/odd.txt
	@cat $$(ls $(OUT)/round-*.txt | sed -n 'n;p') >$(OUT)/even.txt
	$(GO) tool benchstat -filter '-.name:Null .unit:ops/ms' $(OUT)/odd.txt $(OUT)/even.txt

# The same reads by fio, interleaved with ours, on the same file.
fio:
	OUT=$(OUT) GO=$(GO) ROUNDS=$(ROUNDS) ./tools/fio-compare

clean:
	rm -rf $(OUT)
