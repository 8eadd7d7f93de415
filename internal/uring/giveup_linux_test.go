package uring

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openPipe opens a ring that reads a pipe, where reads are in flight until somebody writes or they are cancelled.
func openPipe(t *testing.T, o Options) (*Ring, *os.File) {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	from, to := os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe")
	t.Cleanup(func() { from.Close(); to.Close() })
	o.File = from
	return openTest(t, o), to
}

func writeByte(t *testing.T, to *os.File) {
	t.Helper()
	if _, err := to.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
}

var errStop = errors.New("stop")

func TestAnErrorCancelsWhatIsInFlight(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		o.Batches = 2
		r, to := openPipe(t, o)
		writeByte(t, to) // for the first read
		r.Add(0, 1)
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		for range o.Depth - 1 { // these will not get anything
			r.Add(0, 1)
		}
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		in := 0
		err := r.Finish(func(int, []byte) error { in = r.flying; return errStop })
		if !errors.Is(err, errStop) || in != o.Depth-1 || r.flying != 0 || r.lost {
			t.Errorf("%v, %d in flight before and %d after (lost: %t), want %d and none", err, in, r.flying, r.lost, o.Depth-1)
		}
	})
}

func TestClosingCancelsWhatIsInFlight(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		for name, leave := range map[string]func(r *Ring){
			"started": func(r *Ring) {},
			"panic": func(r *Ring) {
				defer func() { recover() }()
				r.Finish(func(int, []byte) error { panic("a user's mistake") })
			},
			"goexit": func(r *Ring) {
				done := make(chan struct{})
				go func() {
					defer close(done)
					r.Finish(func(int, []byte) error { runtime.Goexit(); return nil })
				}()
				<-done
			},
		} {
			t.Run(name, func(t *testing.T) {
				o.Batches = 2
				r, to := openPipe(t, o)
				writeByte(t, to) // for the first read
				r.Add(0, 1)
				if err := r.Start(); err != nil {
					t.Fatal(err)
				}
				for range o.Depth + 3 { // more than fit
					r.Add(0, 1)
				}
				if err := r.Start(); err != nil {
					t.Fatal(err)
				}
				leave(r)
				if r.flying == 0 || r.idle() {
					t.Fatalf("%d in flight (idle: %t) before closing: this tests nothing", r.flying, r.idle())
				}
				if err := r.Close(); err != nil || r.flying != 0 {
					t.Errorf("%v with %d in flight", err, r.flying)
				}
				if err := r.Close(); !errors.Is(err, ErrClosed) {
					t.Errorf("closed again: %v", err)
				}
				if err := r.Do(ignore); !errors.Is(err, ErrClosed) {
					t.Errorf("used after closing: %v", err)
				}
			})
		}
	})
}

// If the kernel does not let us wait any more, nobody knows when it has written the last byte: the buffers stay.
func TestBuffersStayIfTheirReadsCannotBeWaitedFor(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		o.Batches = 2
		r, to := openPipe(t, o)
		sys := &fakeSystem{system: linux{}}
		r.sys = sys
		broken := false
		inject(r, &faults{err: func(int) error {
			if broken {
				return unix.EIO
			}
			return nil
		}})
		for range o.Depth {
			r.Add(0, 1)
		}
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		broken = true
		buf := r.buf
		if err := r.Finish(ignore); !errors.Is(err, unix.EIO) || !r.lost {
			t.Fatalf("%v, lost: %t", err, r.lost)
		}
		if err := r.Close(); err == nil || !strings.Contains(err.Error(), "stay mapped") {
			t.Errorf("closing: %v", err)
		}
		if sys.unmapped != 0 {
			t.Errorf("%d bytes of buffers were unmapped", sys.unmapped)
		}
		// The ring is closed, so the kernel cancels the reads by itself, some time. These do not move: write to them.
		if _, err := to.Write(make([]byte, 2*o.Depth)); err != nil {
			t.Fatal(err)
		}
		clear(buf)
	})
}

func TestNothingIsLeft(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		const rings, buffers = 16, 8 << 20 // bytes of each: more than anything else changes meanwhile
		o.MaxRange, o.Batches = buffers/o.Depth, 2
		errs := map[string]func(r *Ring) error{
			"finished":    func(r *Ring) error { r.Add(0, 1000); return r.Do(ignore) },
			"in flight":   func(r *Ring) error { r.Add(0, 1000); return r.Start() },
			"failed":      func(r *Ring) error { r.Add(testSize, 1); r.Do(ignore); return nil },
			"not started": func(r *Ring) error { r.Add(0, 1000); return nil },
		}
		fds, maps := ringsOpen(t)
		before := mappedBytes(t)
		for name, use := range errs {
			for i := range rings / len(errs) {
				o.FixedBuffers, o.OneThread = i%2 == 0, i%3 == 0
				r, err := Open(o)
				if err != nil {
					t.Fatal(err)
				}
				if f, m := ringsOpen(t); f != fds+1 || m <= maps {
					t.Fatalf("an open ring has %d descriptors and %d mappings: this tests nothing", f-fds, m-maps)
				}
				if err := use(r); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if err := r.Close(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if f, m := ringsOpen(t); f != fds || m != maps {
			t.Errorf("%d descriptors and %d mappings of rings are left", f-fds, m-maps)
		}
		if grown := mappedBytes(t) - before; grown > rings*buffers/4 {
			t.Errorf("the address space has grown by %d bytes; %d rings of %d were closed", grown, rings, buffers)
		}
	})
}

func TestARingOfOneThreadIsForThatThread(t *testing.T) {
	onEngines(t, func(t *testing.T, o Options) {
		o.OneThread = true
		r := openTest(t, o)
		if !strings.Contains(r.String(), "single-issuer") {
			t.Skipf("this kernel does not check: %s", r)
		}
		done := make(chan error)
		go func() {
			r.Add(0, 1)
			done <- r.Do(ignore)
		}()
		err := <-done
		if !errors.Is(err, unix.EEXIST) || !strings.Contains(err.Error(), "OneThread") {
			t.Errorf("used by another thread: %v", err)
		}
		// What was pushed was not taken, so the kernel knows of no buffer; but nobody can tell from outside.
		r.flying, r.lost = 0, false
	})
}
