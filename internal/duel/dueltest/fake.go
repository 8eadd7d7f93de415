// Package dueltest has contestants for tests of the coordinator: they take turns like a test binary of readbench, and do nothing in them
// but to say what they would have done. A test binary that calls Main becomes one when it is started with the environment that
// Environ makes.
package dueltest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/readbench/suite/internal/turns"
)

const variable = "DUELTEST_FAKE"

// A Fake is a test binary with some rows.
type Fake struct {
	Rows []Row
	Dir  string // where each process leaves a file whose name is its id, and those of what it starts
}

// A Row is one that a Fake offers.
type Row struct {
	Name   string
	Factor float64 // of its rate, which drifts as those of all others do, and is noisy; 0: it does no op
	Mode   Mode
	Size   int64             // of the file
	Config map[string]string // configuration lines
	Nanos  int64             // of an op; 0: 10 µs
}

// A Mode is what is wrong with a row.
type Mode string

// The modes.
const (
	Skip         Mode = "skip"           // cannot be set up
	FailSetup    Mode = "fail in set-up" //
	FailEnd      Mode = "fail at the end"
	HangSetup    Mode = "hang in set-up"
	HangTurn     Mode = "hang in a turn, with a child"
	DieTurn      Mode = "die in a turn"
	KilledTurn   Mode = "killed in a turn"
	Rubbish      Mode = "rubbish"
	WrongKind    Mode = "wrong kind"
	Negative     Mode = "negative rate"
	WrongVersion Mode = "wrong version"
	Evicts       Mode = "evicts"   // in set-up and in each third turn
	Deaf         Mode = "deaf"     // does not end when its pipe is closed
	Vanished     Mode = "vanished" // is not offered when it is the only one selected
	DieOnDrop    Mode = "die on drop"
	Stalls       Mode = "stalls" // does nearly nothing in each twentieth turn
)

// Environ is the environment of a process of the fake.
func (f Fake) Environ() []string {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // it is made of strings and numbers
	}
	return append(os.Environ(), variable+"="+string(b), "GORACE=atexit_sleep_ms=0") // by default a process with the race detector ends 1 s late
}

// Living are the processes of the fake that are still there, once some time has been given them to end.
func (f Fake) Living(t *testing.T) (pids []int) {
	t.Helper()
	files, err := os.ReadDir(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Error("no process was started")
	}
	for try := range 100 {
		pids = nil
		for _, file := range files {
			if pid, err := strconv.Atoi(file.Name()); err == nil && alive(pid) {
				pids = append(pids, pid)
			}
		}
		if pids == nil {
			break
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
	return pids
}

// alive reports whether a process is there and no zombie that nobody has waited for: orphans of tests may have a parent that never does.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// Main is a fake, if the environment says so, and does not return then.
func Main() {
	var f Fake
	if text := os.Getenv(variable); text == "" {
		return
	} else if err := json.Unmarshal([]byte(text), &f); err != nil {
		panic(err)
	}
	f.register(os.Getpid())
	fmt.Println("goos: fake")
	c := &contestant{Fake: f, conn: turns.Inherited()}
	bench := ""
	for _, arg := range os.Args[1:] {
		if value, ok := strings.CutPrefix(arg, "-test.bench="); ok {
			bench = value
		}
	}
	for _, row := range f.Rows {
		if matches(bench, row.Name) && !(row.Mode == Vanished && strings.HasPrefix(bench, "^")) {
			c.offer(row)
		}
	}
	fmt.Println("PASS")
	os.Exit(0)
}

func (f Fake) register(pid int) {
	if err := os.WriteFile(filepath.Join(f.Dir, strconv.Itoa(pid)), nil, 0o600); err != nil {
		panic(err)
	}
}

// matches is what -test.bench does: level by level.
func matches(bench, row string) bool {
	levels := strings.Split(row, "/")
	for i, expr := range strings.Split(bench, "/") {
		if i < len(levels) && !regexp.MustCompile(expr).MatchString(levels[i]) {
			return false
		}
	}
	return true
}

type contestant struct {
	Fake
	conn          *turns.Conn
	drops, renews int
	turns         int
}

func (c *contestant) send(m turns.Message) {
	if c.conn.Send(m) != nil {
		os.Exit(0)
	}
}

// receive answers Drop and Renew, and returns everything else. It ends the process when the coordinator is gone.
func (c *contestant) receive(row Row) turns.Message {
	for {
		m, err := c.conn.Receive()
		switch {
		case err != nil && row.Mode == Deaf:
			time.Sleep(time.Hour)
		case err != nil:
			os.Exit(0)
		case m.Kind == turns.Drop && row.Mode == DieOnDrop:
			os.Exit(4)
		case m.Kind == turns.Drop:
			c.drops++
			c.send(turns.Message{Kind: turns.Dropped})
		case m.Kind == turns.Renew:
			c.renews++
			c.send(turns.Message{Kind: turns.Renewed})
		default:
			return m
		}
	}
}

func (c *contestant) evict(row Row) {
	for _, kind := range []turns.Kind{turns.Evict, turns.Evicted} {
		c.send(turns.Message{Kind: kind, From: 4096})
		if m := c.receive(row); m.Kind != turns.Go {
			fmt.Println("no go but", m.Kind)
			os.Exit(9)
		}
	}
}

func (c *contestant) offer(row Row) {
	version := turns.Version
	if row.Mode == WrongVersion {
		version++
	}
	c.send(turns.Message{Kind: turns.Offer, Version: version, Row: row.Name})
	take := c.receive(row)
	if take.Kind != turns.Take {
		return
	}
	switch row.Mode {
	case Skip:
		c.send(turns.Message{Kind: turns.Skip, Text: "io_uring is switched off"})
		return
	case FailSetup:
		c.send(turns.Message{Kind: turns.Fail, Text: "12 % of the file are resident"})
		return
	case HangSetup:
		time.Sleep(time.Hour)
	case Evicts:
		c.evict(row)
	}
	shape := &turns.Shape{File: "/data", Size: row.Size, Slots: 1000, SlotSize: 20480, Threads: 2, Case: "hot", Config: row.Config}
	c.send(turns.Message{Kind: turns.Ready, Shape: shape})
	noise := rand.New(rand.NewPCG(7, uint64(take.Index)))
	for {
		m := c.receive(row)
		if m.Kind == turns.End {
			break
		}
		c.turn(row, m, noise)
	}
	if row.Mode == FailEnd {
		c.send(turns.Message{Kind: turns.Fail, Text: "the device delivered 5 GB"})
		return
	}
	warm := 0.0
	if take.Warm {
		warm = 1
	}
	c.send(turns.Message{Kind: turns.Ended, Metrics: map[string]float64{"drops": float64(c.drops), "renews": float64(c.renews), "index": float64(take.Index), "of": float64(take.Of), "warm": warm}})
}

const (
	threads   = 2
	sureTurns = 20 // until something goes wrong
)

// turn says what it would have done: 10 µs an op, with 6 % of noise, on a disk that has its swings, which hit all contestants alike.
func (c *contestant) turn(row Row, m turns.Message, noise *rand.Rand) {
	c.turns++
	if c.turns == sureTurns {
		c.wrong(row)
	}
	if row.Mode == Evicts && c.turns%3 == 0 {
		c.evict(row)
	}
	op := row.Nanos
	if op == 0 {
		op = 10_000
	}
	swing := 1 + 0.3*math.Sin(float64(time.Now().UnixNano())/3e6)
	rate := threads * 1e9 / float64(op) * row.Factor * swing * math.Exp(0.06*noise.NormFloat64())
	if row.Mode == Stalls && c.turns%20 == 0 {
		rate /= 100
	}
	nanos := max(float64(m.Nanos), threads*1e9/max(rate, 1)) // an op under way is finished
	ops := int(rate * nanos / 1e9)
	if row.Factor > 0 {
		ops = max(ops, 1)
	}
	c.send(turns.Message{Kind: turns.Done, Result: &turns.Result{Ops: ops, Rate: rate, Nanos: int64(nanos) * threads}})
}

// wrong does what goes wrong in a turn.
func (c *contestant) wrong(row Row) {
	switch row.Mode {
	case DieTurn:
		fmt.Fprintln(os.Stderr, "panic: the ring broke")
		os.Exit(3)
	case KilledTurn:
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case HangTurn:
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			panic(err)
		}
		c.register(child.Process.Pid)
		time.Sleep(time.Hour)
	case Rubbish:
		os.NewFile(4, "answers").WriteString("BenchmarkPread 100 5 ns/op\n")
		time.Sleep(time.Hour)
	case WrongKind:
		c.send(turns.Message{Kind: turns.Dropped})
	case Negative:
		c.send(turns.Message{Kind: turns.Done, Result: &turns.Result{Ops: 1, Rate: -1, Nanos: 1}})
	}
}
