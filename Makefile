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

.PHONY: test lint unit race fuzz bench fio clean

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

# Random reads, hot and cold, T1 to T16: tables of throughput and of the evidence beside it.
bench:
	@mkdir -p $(OUT)
	@if [ -z "$$READBENCH_FILE" ]; then $(GO) run ./tools/mkfile -size $${READBENCH_SIZE:-1GiB} -seed $${READBENCH_SEED:-1} >&2; fi
	$(GO) test -c -o $(OUT)/random.test ./readbench/random
	@rm -f $(OUT)/bench.txt
	@status=0; for round in $$(seq $(ROUNDS)); do \
	  echo "# round $$round of $(ROUNDS)" >&2; \
	  $(OUT)/random.test -test.run='^$$' -test.bench='$(BENCH)' -test.benchtime=$(BENCHTIME) >>$(OUT)/bench.txt || status=1; \
	done; \
	$(GO) tool benchstat -row /case,/threads -col .name -filter '.unit:(ops/ms OR dev-B/op OR majflt/op OR madvise/op)' $(OUT)/bench.txt; \
	if [ $$status != 0 ]; then grep -A3 -e '--- FAIL' $(OUT)/bench.txt >&2; fi; exit $$status

# The same reads by fio, interleaved with ours, on the same file.
fio:
	OUT=$(OUT) GO=$(GO) ROUNDS=$(ROUNDS) ./tools/fio-compare

clean:
	rm -rf $(OUT)
