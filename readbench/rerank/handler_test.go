package rerank

import (
	"slices"
	"strings"
	"testing"

	"github.com/readbench/suite/readbench/config"
)

// A handler reads what its shortlist names, once each, hinted before, and finds what the reference finds, in whatever order
// vectors come.
func TestHandler(t *testing.T) {
	x := indexOf(t, load(t, "VECTORS=3000", "DIM=200", "SHORTLIST=150"))
	m := newMemory(x)
	h := newHandler(x, newAnswers(), m)
	if err := h.examine(); err != nil {
		t.Fatal(err)
	}
	h.counters, m.read, m.hinted = counters{}, 0, 0
	for query := range int64(30) {
		top, err := h.answer(query)
		if want := x.reference(query); err != nil || !slices.Equal(top, want) || len(top) != topK {
			t.Fatalf("query %d: %v, %v, want %v", query, numbers(top), err, numbers(want))
		}
		if !slices.IsSorted(top) {
			t.Errorf("query %d: not nearest first", query)
		}
	}
	if want := 30 * 150; m.read != want || m.hinted != want || h.counters != (counters{30, uint64(want)}) {
		t.Errorf("%d reads, %d hints, counted %+v, want %d", m.read, m.hinted, h.counters, want)
	}
}

// What is read is checked: another vector, or a changed number, is an error, and never an answer.
func TestHandlerFindsWrongBytes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		verify config.Verify
		harm   func(x *index) func(n int, p []byte) []byte
		want   string
	}{
		{"another vector", config.VerifyPages, func(x *index) func(int, []byte) []byte {
			return func(n int, p []byte) []byte {
				v := make([]float32, x.space.dim)
				x.vector(v, (n+1)%x.vectors)
				return asBytes(v)
			}
		}, "wrong from byte"},
		{"zeros", config.VerifyPages, func(*index) func(int, []byte) []byte {
			return func(_ int, p []byte) []byte { return make([]byte, len(p)) }
		}, "wrong from byte 0"},
		{"its last number", config.VerifyPages, flip(-1), "wrong from byte 5999"},
		{"a number of its second page", config.VerifyPages, flip(4096), "wrong from byte 4096"},
		{"any bit", config.VerifyFull, flip(3001), "wrong from byte 3001"},
		{"an odd address", config.VerifyFull, func(*index) func(int, []byte) []byte {
			return func(_ int, p []byte) []byte { return append(make([]byte, 1, len(p)+1), p...)[1:] }
		}, "no multiple of 4"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := indexOf(t, load(t, "VECTORS=300", "DIM=1500", "SHORTLIST=100", "VERIFY="+string(tc.verify)))
			m := newMemory(x)
			m.harm = tc.harm(x)
			err := newHandler(x, newAnswers(), m).Serve(5)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// flip changes a bit of one byte, counted from the end if at is negative.
func flip(at int) func(*index) func(int, []byte) []byte {
	return func(*index) func(int, []byte) []byte {
		return func(_ int, p []byte) []byte {
			p[(at+len(p))%len(p)] ^= 4
			return p
		}
	}
}

// A query that one backend answers otherwise than another did fails, whichever comes first.
func TestAnswersDiffer(t *testing.T) {
	a := newAnswers()
	one, other := []uint64{rank(1, 5), rank(2, 6)}, []uint64{rank(1, 5), rank(2, 7)}
	for _, step := range []struct {
		query int64
		top   []uint64
		ok    bool
	}{{3, one, true}, {3, one, true}, {3, other, false}, {3, one[:1], false}, {3, nil, false}, {4, other, true}, {4, one, false}, {5, nil, true}, {5, nil, true}, {5, one, false}} {
		if err := a.compare(step.query, step.top); (err == nil) != step.ok {
			t.Errorf("query %d, %v: %v", step.query, step.top, err)
		}
	}
}

// Ranks order by distance, then by number; of a vector that is there twice one counts.
func TestNearest(t *testing.T) {
	if a, b, c := rank(0, 9), rank(1e-30, 0), rank(1e-30, 1); a >= b || b >= c || ranked(c) != 1 {
		t.Errorf("ranks %x, %x, %x", a, b, c)
	}
	var all []uint64
	for n := range int32(3 * topK) {
		all = append(all, rank(float32(n/2), n), rank(float32(n/2), n))
	}
	slices.Reverse(all)
	top := nearestOf(all)
	if len(top) != topK {
		t.Fatalf("%d are nearest", len(top))
	}
	for i, r := range top {
		if ranked(r) != int32(i) {
			t.Errorf("place %d has vector %d", i, ranked(r))
		}
	}
	if got := nearestOf(nil); len(got) != 0 {
		t.Error(got)
	}
}

// Nothing is allocated for a query.
func TestServeDoesNotAllocate(t *testing.T) {
	x := indexOf(t, load(t, "VECTORS=5000", "DIM=64"))
	h := newHandler(x, newAnswers(), newMemory(x))
	query := int64(0)
	if n := testing.AllocsPerRun(50, func() {
		query++
		if err := h.Serve(query); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a query", n)
	}
}
