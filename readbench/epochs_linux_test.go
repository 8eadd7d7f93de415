package readbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
)

func TestColdReadsNoPageTwice(t *testing.T) {
	for _, tc := range []struct {
		read    string
		threads int
	}{{"16KiB", 1}, {"16KiB", 4}, {"1000", 3}, {"4096", 2}} {
		t.Run(fmt.Sprintf("%s/T%d", tc.read, tc.threads), func(t *testing.T) {
			s := testSuite(t, "READ_SIZE="+tc.read)
			var sp spans
			honest := fake{read: func(o *fakeOpened, rg Range, p []byte) ([]byte, error) {
				sp.mu.Lock()
				sp.seen = append(sp.seen, rg)
				sp.mu.Unlock()
				_, err := o.fd.ReadAt(p[:rg.N], rg.Off)
				return p[:rg.N], err
			}}
			r, err := s.open(randomRow(s, honest, "cold", tc.threads))
			if err != nil {
				t.Fatal(err)
			}
			state := r.state.(*coldState)
			state.want = 1000 // several epochs in a short run
			r.state = &recordingState{coldState: state, sp: &sp}
			sp.seen = nil
			const ops = 400
			var res *result
			benchmarkN(t, ops, func(b *testing.B) { res, err = r.measure(b) })
			sp.next()
			if err := errors.Join(err, r.close()); err != nil {
				t.Fatal(err)
			}
			total, page := 0, int64(os.Getpagesize())
			for _, epoch := range sp.epochs {
				total += len(epoch)
				slices.SortFunc(epoch, func(a, b Range) int { return int(a.Off - b.Off) })
				for i, rg := range epoch {
					if rg.Off < 0 || rg.Off+int64(rg.N) > s.File().size {
						t.Fatalf("%v is outside the file", rg)
					}
					if i > 0 && (epoch[i-1].Off+int64(epoch[i-1].N)-1)/page >= rg.Off/page {
						t.Fatalf("%v and %v share a page", epoch[i-1], rg)
					}
				}
			}
			if want := int(res.ranges()); total != want || res.ops < ops || len(sp.epochs) < want/1000 {
				t.Errorf("%d reads in %d epochs, want %d in at least %d", total, len(sp.epochs), want, want/1000)
			}
		})
	}
}

func (sp *spans) next() {
	if len(sp.seen) > 0 {
		sp.epochs = append(sp.epochs, sp.seen)
		sp.seen = nil
	}
}

// recordingState notes where an epoch ends.
type recordingState struct {
	*coldState
	sp *spans
}

func (s *recordingState) restore(ctx context.Context, when moment) error {
	s.sp.next()
	return s.coldState.restore(ctx, when)
}

func TestEpochsAreExact(t *testing.T) {
	s := testSuite(t)
	r, err := s.open(randomRow(s, Pread(), "cold", 1))
	if err != nil {
		t.Fatal(err)
	}
	state := r.state.(*coldState)
	state.want = 33
	for i := range 1000 {
		pass, end := state.pass, state.base+state.limit
		state.renew(state.want, r)
		if state.pass == pass && state.base != end {
			t.Fatalf("epoch %d begins at position %d, the one before ended at %d", i, state.base, end)
		}
		slots := int64(0)
		for at := range state.limit {
			if slot, _ := state.perm.At(uint64(state.base + at)); slot < uint64(r.slots) {
				slots++
			}
		}
		if slots != state.want || state.base+state.limit > int64(state.perm.Positions()) {
			t.Fatalf("epoch %d: %d slots in %d positions from %d", i, slots, state.limit, state.base)
		}
	}
	if state.pass < 2 {
		t.Error("no pass over the file ended")
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

func TestDrawTooMany(t *testing.T) {
	s := testSuite(t)
	row := randomRow(s, Pread(), "cold", 1)
	row.Op = func(w *Worker) (func() error, error) {
		ranges := make([]Range, w.run.grain+1)
		return func() error {
			n, err := w.Draw(ranges)
			if err == nil && (n < 1 || n > w.run.grain) {
				err = fmt.Errorf("%d ranges were drawn, at most %d may be", n, w.run.grain)
			}
			for i := range ranges {
				ranges[i].N = row.MaxRange
			}
			return errors.Join(err, w.Read(ranges[:n]))
		}, nil
	}
	if _, err := measureRow(t, s, row, 10); err != nil {
		t.Error(err)
	}
}

func TestEpochsTooShort(t *testing.T) {
	s := testSuite(t)
	warming := fake{fakeOptions: &fakeOptions{prefetch: func(o *fakeOpened, rs []Range) error {
		_, err := o.fd.ReadAt(make([]byte, 1<<20), rs[0].Off/2)
		return err
	}}}
	r, err := s.open(randomRow(s, warming, "cold", 1))
	if err != nil {
		t.Fatal(err)
	}
	state := r.state.(*coldState)
	state.want *= 4 // as if the pilot had met less than later reads do
	state.need = state.want
	benchmarkN(t, 1000, func(b *testing.B) { _, err = r.measure(b) })
	err = errors.Join(err, r.close())
	wantError(t, err, "would warm more than")
	if !errors.Is(err, ErrUnsupported) {
		t.Error("it is not a reason to skip")
	}
}

// The pilot's ops together warm more than an epoch may, but the pilot is none: what it found holds.
func TestPilotIsNoEpoch(t *testing.T) {
	s := testSuite(t)
	buf := make([]byte, 1<<20)
	row := randomRow(s, fake{read: func(o *fakeOpened, rg Range, p []byte) ([]byte, error) {
		if _, err := o.fd.ReadAt(buf, rg.Off&^(1<<20-1)); err != nil { // a read-ahead of 1 MiB
			return nil, err
		}
		_, err := o.fd.ReadAt(p[:rg.N], rg.Off)
		return p[:rg.N], err
	}}, "cold", 1)
	r, err := s.open(row)
	if err != nil {
		t.Fatal(err)
	}
	state := r.state.(*coldState)
	found := state.want
	if resident, err := s.files.resident(); err != nil || resident.Share() <= coldEpochShare {
		t.Errorf("%v, %v: the pilot is to warm more than %v", resident, err, coldEpochShare)
	}
	benchmarkN(t, 4, func(b *testing.B) { _, err = r.measure(b) })
	if err := errors.Join(err, r.close()); err != nil {
		t.Fatal(err)
	}
	if state.want != found {
		t.Errorf("the pilot said %d reads an epoch, now there are %d", found, state.want)
	}
}
