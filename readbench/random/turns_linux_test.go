package random_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/benchtest"
	"github.com/readbench/suite/internal/turns"
)

// contestant is a process with a row that takes turns.
type contestant struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	conn   *turns.Conn
	pipes  []*os.File
	output bytes.Buffer
}

// start starts a contestant; it is ended by closing its pipes, at the end of the test at the latest.
func start(t *testing.T, u benchtest.User, name, bench string, settings ...string) *contestant {
	t.Helper()
	c := &contestant{t: t, name: name}
	in, commands, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.pipes = []*os.File{commands, answers}
	c.cmd = u.Command(append(settings, "TURNS=true", "SHARE=share"), "-test.bench="+bench, "-test.benchtime=1x")
	c.cmd.ExtraFiles = []*os.File{in, out}
	c.cmd.Stdout, c.cmd.Stderr = &c.output, &c.output
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	c.conn = turns.NewConn(answers, commands)
	t.Cleanup(func() { c.close() })
	return c
}

// close closes the pipes and waits for the process to end.
func (c *contestant) close() error {
	for _, p := range c.pipes {
		p.Close()
	}
	if c.cmd.ProcessState != nil {
		return nil
	}
	return c.cmd.Wait()
}

func (c *contestant) send(m turns.Message) {
	c.t.Helper()
	if err := c.conn.Send(m); err != nil {
		c.t.Fatalf("%s: %v\n%s", c.name, err, &c.output)
	}
}

// expect waits for a message; meanwhile it sees to it that all others drop and renew what is evicted.
func (c *contestant) expect(kind turns.Kind, others []*contestant) turns.Message {
	c.t.Helper()
	for {
		m, err := c.conn.Expect(kind, turns.Evict, turns.Evicted)
		if err != nil {
			c.t.Fatalf("%s: %v\n%s", c.name, err, &c.output)
		}
		if m.Kind == kind {
			return m
		}
		tell, answer := turns.Message{Kind: turns.Drop, From: m.From}, turns.Dropped
		if m.Kind == turns.Evicted {
			tell, answer = turns.Message{Kind: turns.Renew}, turns.Renewed
		}
		for _, o := range others {
			if o != c {
				o.send(tell)
				o.expect(answer, nil)
			}
		}
		c.send(turns.Message{Kind: turns.Go})
	}
}

// Contestants share one file in one case: each passes the evidence of its own row, over several epochs and whatever it maps, however many threads it has.
func TestTurns(t *testing.T) {
	u := benchtest.NewUser(t)
	for _, tc := range []struct {
		pageCase string
		threads  int
		rounds   int
	}{
		{"hot", 1, 20}, {"hot", 4, 20}, {"cold", 1, 60}, {"cold", 4, 40}, {"mixed50", 2, 40},
	} {
		t.Run(fmt.Sprintf("%s/T%d", tc.pageCase, tc.threads), func(t *testing.T) {
			var ready []*contestant
			names := []string{"Pread", "MmapRandom", "PreadDirect"}
			for i, name := range names {
				c := start(t, u, name, "^Benchmark"+name+"$/^case="+tc.pageCase+"$", "SIZE=256MiB", "CASES="+tc.pageCase, fmt.Sprintf("THREADS=%d", tc.threads))
				offer := c.expect(turns.Offer, nil)
				if want := fmt.Sprintf("Benchmark%s/case=%s/read=16KiB/threads=%d", name, tc.pageCase, tc.threads); offer.Row != want || offer.Version != turns.Version {
					t.Fatalf("%+v, want %s", offer, want)
				}
				c.send(turns.Message{Kind: turns.Take, Index: i, Of: len(names), Warm: i > 0})
				shape := c.expect(turns.Ready, ready).Shape
				if shape.Size != 256<<20 || shape.Threads != tc.threads || shape.Case != tc.pageCase || shape.Config["file"] == "" {
					t.Errorf("%s is ready with %+v", name, shape)
				}
				ready = append(ready, c)
			}
			ops := map[string]int{}
			for range tc.rounds {
				for _, c := range ready {
					c.send(turns.Message{Kind: turns.Turn, Nanos: 3e6})
					res := c.expect(turns.Done, ready).Result
					if res.Ops < tc.threads || res.Rate <= 0 || res.Nanos < int64(tc.threads)*3e6 {
						t.Errorf("%s: a turn with %+v", c.name, res)
					}
					ops[c.name] += res.Ops
				}
			}
			for _, c := range ready {
				c.send(turns.Message{Kind: turns.End})
				metrics := c.expect(turns.Ended, nil).Metrics
				if bytes, ok := metrics["dev-B/op"]; !ok || tc.pageCase == "cold" && bytes < 0.9*(256<<10) || tc.pageCase == "hot" && c.name != "PreadDirect" && bytes > 0 {
					t.Errorf("%s: %v bytes of the device an op", c.name, bytes)
				}
				if err := c.close(); err != nil {
					t.Errorf("%s: %v\n%s", c.name, err, &c.output)
				}
			}
			t.Log(ops)
		})
	}
}

// What cannot be shared honestly is skipped with the cause, and a contestant ends when the coordinator is gone.
func TestTurnsRefused(t *testing.T) {
	u := benchtest.NewUser(t)
	c := start(t, u, "Pread", "^BenchmarkPread$", "SIZE=64MiB", "CASES=pressure200,hot", "THREADS=1")
	c.expect(turns.Offer, nil)
	c.send(turns.Message{Kind: turns.Take, Of: 2})
	if m := c.expect(turns.Skip, nil); !strings.Contains(m.Text, "cannot be shared by the contestants") {
		t.Errorf("%+v", m)
	}
	if m := c.expect(turns.Offer, nil); !strings.Contains(m.Row, "case=hot") {
		t.Errorf("%+v", m)
	}
	c.send(turns.Message{Kind: turns.Take, Of: 2})
	c.expect(turns.Ready, nil)
	if err := c.close(); err == nil {
		t.Error("it did not fail when its coordinator was gone")
	}
}
