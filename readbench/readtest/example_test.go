package readtest_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/readbench/suite/readbench/readtest"
	"github.com/readbench/suite/readbench/strategy"
)

// seekRead reads with lseek and read: a strategy from outside, in the fewest lines.
type seekRead struct{}

func (seekRead) Name() string { return "seek-read" }

func (seekRead) Open(f *strategy.File, s strategy.Setup) (strategy.Opened, error) {
	return opened{f, s}, nil
}

type opened struct {
	f *strategy.File
	s strategy.Setup
}

func (opened) Close() error { return nil }

// Each worker has a descriptor of its own, since reads move its position.
func (o opened) Reader(int) (strategy.Reader, error) {
	fd, err := o.f.Open(0)
	if err != nil {
		return nil, err
	}
	return &reader{File: fd, buf: make([]byte, o.s.MaxRange)}, nil
}

type reader struct {
	*os.File // Close
	buf      []byte
	calls    uint64
}

func (r *reader) Read(rg strategy.Range) ([]byte, error) {
	if _, err := r.Seek(rg.Off, io.SeekStart); err != nil {
		return nil, err
	}
	r.calls++
	n, err := io.ReadFull(r.File, r.buf[:rg.N])
	return r.buf[:n], err
}

func (r *reader) Counts() strategy.Counts {
	return strategy.Counts{Calls: map[string]uint64{"read": r.calls}, ReadSyscalls: r.calls}
}

func ExampleTest() {
	// In a file of your own, mine_test.go:
	//
	//	func TestMain(m *testing.M)        { readbench.Main(m) }
	//	func TestMine(t *testing.T)        { readtest.Test(t, seekRead{}) }
	//	func BenchmarkSeekRead(b *testing.B) { random.Run(b, seekRead{}) }
	fmt.Println(seekRead{}.Name())
	// Output: seek-read
}

// The plug-in of the example keeps the contract.
func TestExamplePlugin(t *testing.T) { readtest.Test(t, seekRead{}) }
