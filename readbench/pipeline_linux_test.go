package readbench

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// pipes is a Pipeliner that reads when a batch is finished, notes what it was asked for, and complains about misuse.
type pipes struct {
	mu     sync.Mutex
	flying int               // batches, of all readers
	asked  map[int64]int     // reads by offset, since it was last emptied
	broken func(n int) error // of Start number n, counted from 1
	lose   bool              // the last read of each batch
}

func (*pipes) Name() string { return "pipes" }
func (p *pipes) Open(f *strategy.File, s strategy.Setup) (strategy.Opened, error) {
	o, err := fake{}.Open(f, s)
	return &pipesOpened{o.(*fakeOpened), p}, err
}

type pipesOpened struct {
	*fakeOpened
	pipes *pipes
}

func (o *pipesOpened) Reader(int) (strategy.Reader, error) {
	return &pipesReader{o: o, buf: make([]byte, o.setup.MaxRange)}, nil
}

type pipesReader struct {
	o       *pipesOpened
	buf     []byte
	started [][]strategy.Range
	starts  int
}

func (r *pipesReader) Read(strategy.Range) ([]byte, error) {
	return nil, errors.New("one read of a Pipeliner")
}
func (r *pipesReader) ReadBatch([]strategy.Range, func(int, []byte) error) error {
	return errors.New("one batch of a Pipeliner")
}

func (r *pipesReader) Start(rs []strategy.Range) error {
	p := r.o.pipes
	p.mu.Lock()
	defer p.mu.Unlock()
	r.starts++
	if p.broken != nil {
		if err := p.broken(r.starts); err != nil {
			p.flying -= len(r.started)
			r.started = nil
			return err
		}
	}
	if len(r.started) == strategy.Pipelined {
		return errors.New("too many batches under way")
	}
	p.flying++
	r.started = append(r.started, append([]strategy.Range(nil), rs...))
	for _, rg := range rs {
		p.asked[rg.Off]++
	}
	return nil
}

func (r *pipesReader) Finish(each func(int, []byte) error) error {
	if len(r.started) == 0 {
		return errors.New("nothing was started")
	}
	p := r.o.pipes
	rs := r.started[0]
	r.started = r.started[1:]
	p.mu.Lock()
	p.flying--
	p.mu.Unlock()
	if p.lose {
		rs = rs[:len(rs)-1]
	}
	for i, rg := range rs {
		if _, err := unix.Pread(int(r.o.fd.Fd()), r.buf[:rg.N], rg.Off); err != nil {
			return err
		}
		if err := each(i, r.buf[:rg.N]); err != nil {
			return err
		}
	}
	return nil
}

// In every case and order, over several epochs: as many batches are read as there are ops, each in the epoch in which it
// was drawn; nothing is under way when the file is evicted, nor when a call has ended.
func TestPipeline(t *testing.T) {
	for _, pageCase := range []string{"hot", "cold", "mixed50", "scan-hot", "scan-cold"} {
		for _, threads := range []int{1, 4} {
			for _, ops := range []int{1, 2, 150} {
				t.Run(fmt.Sprintf("%s/T%d/%d", pageCase, threads, ops), func(t *testing.T) {
					size := "SIZE=128MiB" // several epochs in a short run
					scan, isScan := strings.CutPrefix(pageCase, "scan-")
					if isScan {
						size = "SIZE=16MiB"
					}
					s := testSuite(t, "METRICS=all", size)
					p := &pipes{asked: map[int64]int{}}
					row := randomRow(s, p, pageCase, threads)
					if isScan {
						row = scanRow(p, scan, threads, 7, 256<<10) // 7 is no divisor of a stripe
					}
					r, err := s.open(row)
					if err != nil {
						t.Fatal(err)
					}
					total, epochs := 0, 0
					empty := func() error {
						p.mu.Lock()
						defer p.mu.Unlock()
						if p.flying != 0 {
							t.Errorf("%d batches are under way when the file is evicted", p.flying)
						}
						for off, n := range p.asked {
							total += n
							if n > 1 && (pageCase == "cold" || pageCase == "scan-cold") {
								t.Errorf("the range at %d was read %d times in an epoch", off, n)
							}
						}
						epochs++
						clear(p.asked)
						return nil
					}
					clear(p.asked)
					r.state = &lookingState{r.state, empty}
					var res *result.Result
					benchmarkN(t, ops, func(b *testing.B) { res, err = r.measure(b) })
					if err == nil {
						err = r.state.Judge(res)
					}
					if p.flying != 0 {
						t.Errorf("%d batches are under way when the call has ended", p.flying)
					}
					if err := errors.Join(err, empty(), r.close()); err != nil {
						t.Fatal(err)
					}
					if res.Ops < ops || res.Ops >= ops+threads || total != int(res.Ranges()) {
						t.Errorf("%d ops with %d reads, want %d ops of %d", res.Ops, total, ops, row.Batch)
					}
					if n := res.Latency.TotalCount(); n != int64(res.Ops) {
						t.Errorf("%d latencies of %d ops", n, res.Ops)
					}
					if ops == 150 && pageCase != "hot" && pageCase != "scan-hot" && epochs < 4 {
						t.Errorf("%d epochs", epochs)
					}
				})
			}
		}
	}
}

// What goes wrong in one worker ends the call for all, with nothing under way.
func TestPipelineFails(t *testing.T) {
	boom := errors.New("boom")
	for name, tc := range map[string]struct {
		p    *pipes
		want string
	}{
		"a batch cannot be started": {&pipes{broken: func(n int) error {
			if n == 20 {
				return boom
			}
			return nil
		}}, "boom"},
		"a read is not delivered": {&pipes{lose: true}, "never delivered"},
	} {
		t.Run(name, func(t *testing.T) {
			s := testSuite(t)
			tc.p.asked = map[int64]int{}
			row := randomRow(s, tc.p, "cold", 3)
			_, err := measureRow(t, s, row, 200)
			wantError(t, err, tc.want)
			if tc.p.flying != 0 {
				t.Errorf("%d batches are under way", tc.p.flying)
			}
		})
	}
}

// The pipelined ring goes over epochs with its bytes right and its counts whole.
func TestPipelinedRing(t *testing.T) {
	for _, e := range strategies.Engines() {
		for _, pageCase := range []string{"cold", "mixed50", "hot"} {
			t.Run(fmt.Sprintf("%s/%s", e, pageCase), func(t *testing.T) {
				s := testSuite(t, "VERIFY=full", "DEPTH=8", "SIZE=24MiB") // several epochs in a short run
				r, err := s.open(randomRow(s, strategies.UringDirectPipelined(e), pageCase, 4))
				if errors.Is(err, strategy.ErrUnsupported) {
					t.Skip(err)
				} else if err != nil {
					t.Fatal(err)
				}
				epochs := 0
				r.state = &lookingState{r.state, func() error {
					epochs++
					if n := r.flying(); n != 0 {
						t.Errorf("%d reads are in flight when the file is evicted", n)
					}
					return nil
				}}
				var res *result.Result
				benchmarkN(t, 300, func(b *testing.B) { res, err = r.measure(b) })
				if err == nil {
					err = errors.Join(r.state.Judge(res), res.JudgeSyscalls())
				}
				n := r.flying()
				if err := errors.Join(err, r.close()); err != nil || n != 0 {
					t.Fatalf("%d in flight, %v", n, err)
				}
				if got, want := res.Counts.Calls["completed"], uint64(res.Ranges()); got < want || got > want+res.Counts.Short+res.Counts.Retried {
					t.Errorf("%d reads, want %d", got, want)
				}
				if pageCase != "hot" && epochs < 4 {
					t.Errorf("%d epochs", epochs)
				}
			})
		}
	}
}

// flying is how many requests of rings are in flight. All workers are waiting, at the barrier or for a call.
func (r *running) flying() (n uint64) {
	for _, w := range r.workers {
		c := w.reader.(strategy.Counter).Counts().Calls
		n += c["submitted"] - c["completed"]
	}
	return n
}
