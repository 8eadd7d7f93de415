package uring

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/testfile"
)

// residentSoon waits for reads under way, as the test does after a hint.
func residentSoon(t *testing.T, f *os.File, off, n int64) {
	t.Helper()
	for {
		r, err := pagecache.Resident(f, off, n)
		if err != nil {
			t.Fatal(err)
		}
		if r.Resident == r.Pages {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(r)
		case <-time.After(time.Millisecond): // and the test's own deadline ends it otherwise
		}
	}
}

func TestHintsBringPagesIn(t *testing.T) {
	testfile.RequireDisk(t, t.TempDir())
	onEngines(t, func(t *testing.T, o Options) {
		m, err := unix.Mmap(int(o.File.Fd()), 0, testSize, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(m)
		for name, hint := range map[string]func(r *Ring) error{
			"file":       (*Ring).WillNeedFile,
			"mapping":    func(r *Ring) error { return r.WillNeedMap(m) },
			"fixed file": (*Ring).WillNeedFile,
		} {
			t.Run(name, func(t *testing.T) {
				if _, err := (pagecache.Evictor{}).Evict(t.Context(), o.File, testSize); err != nil {
					t.Skip(err)
				}
				o.FixedFile = name == "fixed file"
				o.MaxRange = 0
				r := openTest(t, o)
				inject(r, &faults{result: func(q *request) (int32, bool) { return negative(unix.EAGAIN), q.data>>32 == 1 }}) // each slot's first
				n := 3*o.Depth + 1
				for i := range n {
					r.Add(int64(i*20000+1), 16000) // neither starts nor ends on a page
				}
				r.Add(testSize-1, 1)
				if err := hint(r); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					residentSoon(t, o.File, int64(i*20000+1), 16000)
				}
				residentSoon(t, o.File, testSize-1, 1)
				if c := r.Counts(); c.Submissions != c.Completions || c.Submissions != uint64(n+1)+uint64(o.Depth) || c.Retried < uint64(o.Depth) {
					t.Errorf("%d hints, each slot's first one twice: counted %+v", n+1, c)
				}
			})
		}
	})
}

func TestHintsThatFail(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		m, err := unix.Mmap(int(o.File.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(m)
		for _, c := range []struct {
			name string
			rd   read
			hint func(r *Ring) error
			want error
		}{
			{"nothing", read{0, 0}, (*Ring).WillNeedFile, nil},
			{"before the start", read{-1, 1}, (*Ring).WillNeedFile, nil},
			{"beyond the mapping", read{4095, 2}, func(r *Ring) error { return r.WillNeedMap(m) }, nil},
			{"a file that is closed", read{0, 1}, func(r *Ring) error { r.fd = 1 << 20; return r.WillNeedFile() }, unix.EBADF},
		} {
			r := openTest(t, o)
			r.Add(c.rd.off, c.rd.n)
			err := c.hint(r)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || r.Err() == nil || r.flying != 0 {
				t.Errorf("%s: %v, want %v; in flight: %d", c.name, err, c.want, r.flying)
			}
		}
		// The kernel's own refusals, wherever in the batch.
		r := openTest(t, o)
		inject(r, &faults{result: func(q *request) (int32, bool) { return negative(unix.ENOMEM), q.op == opMadvise && q.data>>32 == 2 }})
		for range 3 * o.Depth {
			r.Add(0, 4096)
		}
		if err := r.WillNeedMap(m); !errors.Is(err, unix.ENOMEM) || r.flying != 0 {
			t.Errorf("a hint that fails in the second wave: %v with %d in flight", err, r.flying)
		}
	})
}
