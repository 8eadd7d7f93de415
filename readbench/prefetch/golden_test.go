package prefetch

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readbench/suite/readbench/strategy"
)

const page = 4096

// target is a file of 1024 ranges of one page.
func target(workers int) Target {
	return Target{
		Size: 1024 * page, PageSize: page, Workers: workers, Processors: workers, Faults: 5,
		Probe: 300 * time.Nanosecond, Hint: 400 * time.Nanosecond, Read: 100 * time.Microsecond,
	}
}

// deciders opens a policy and makes the parts of its workers.
func deciders(p Policy, t Target) []Decider {
	worker := p.Open(t)
	ds := make([]Decider, t.Workers)
	for id := range ds {
		ds[id] = worker(id)
	}
	return ds
}

// replay shows ranges to a decider, in batches, as Worker.Prefetch does. truth[i] is 'h' if range i is a hit
// (resident), 'm' if it is a miss; page numbers count up from 0. The answer has a letter for each range: '.'
// skipped, 'h' probed and found resident, 'm' probed and found missing, 'H' hinted without a probe.
func replay(d Decider, truth string, batch int, skips bool) string {
	said := []byte(strings.Repeat(".", len(truth)))
	skipper, _ := d.(Skipper)
	ranges := make([]strategy.Range, len(truth))
	for i := range ranges {
		ranges[i] = strategy.Range{Off: int64(i)*page + 1, N: page - 1}
	}
	for start := 0; start < len(truth); start += batch {
		end := min(start+batch, len(truth))
		for i := start; i < end; i++ {
			if skipper != nil && skips {
				if i += skipper.Skip(ranges[i:end]); i == end {
					break
				}
			}
			r := strategy.Range{Off: int64(i) * page, N: page}
			switch d.Decide(r) {
			case Probe:
				said[i] = truth[i]
				d.Learn(r, truth[i] == 'h')
			case Hint:
				said[i] = 'H'
			}
		}
	}
	return string(said)
}

// rep is s, n times.
func rep(s string, n int) string { return strings.Repeat(s, n) }

// Each policy decides on a written sequence as its rule says. The rules are those of the table in docs/policies.md.
func TestDecisions(t *testing.T) {
	for _, c := range []struct {
		policy, rule string
		truth, want  string
	}{
		{"always", "every range is hinted", "hhmmhm", "HHHHHH"},
		{"loaded", "every range is probed", "hhmmhm", "hhmmhm"},

		{"backoff", "probed at 0 and the powers of two", rep("h", 20), "hhh.h...h.......h..."},
		{"backoff", "without a cap", rep("h", 129), "hhh.h...h.......h" + rep(".", 15) + "h" + rep(".", 31) + "h" + rep(".", 63) + "h"},
		{"backoff", "a miss sets the count to 0", "hhmhhhhhhm", "hhmhhh.h.."},
		{"backoff", "a miss at the first range, too", "mmmhhhhh", "mmmhhh.h"},
		{"backoff", "what is skipped counts, and its misses are not seen", "hhhmhmmmhmmm", "hhh.h...h..."},
		{"backoff-local", "decides like backoff", "hhmhhhhhhmhhhhhhhhhhhh", "hhmhhh.h...h.......h.."},

		{"slowclimb", "the first 8, then every 8th, and from 64 on again", rep("h", 82),
			"hhhhhhhh" + rep("h.......", 7) + "h" + "hhhhhhhh" + "h......." + "h"},
		{"slowclimb", "a miss among the first 8", "hhhhm" + rep("h", 17), "hhhhm" + "hhhhhhhh" + "h......." + "h"},
		{"slowclimb", "a miss at 16 starts again", rep("h", 16) + "m" + rep("h", 10), "hhhhhhhh" + "h......." + "m" + "hhhhhhhh" + "h."},
		{"slowclimb", "a miss between is not seen", rep("h", 9) + "m" + rep("h", 7), "hhhhhhhh" + "h......." + "h"},
		{"slowclimb", "a miss at 64", rep("h", 64) + "m" + rep("h", 9), "hhhhhhhh" + rep("h.......", 7) + "m" + "hhhhhhhh" + "h"},

		{"runlength", "every range until 1024 hits in a row", rep("h", 1023) + "m" + rep("h", 1024), rep("h", 1023) + "m" + rep("h", 1024)},

		{"bitmap", "pages that are not known are probed", "hmhm", "hmhm"},
	} {
		p, err := New(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		for _, batch := range []int{1, 3, 16, len(c.truth)} {
			for _, skips := range []bool{false, true} {
				if got := replay(deciders(p, target(1))[0], c.truth, batch, skips); got != c.want {
					t.Errorf("%s, %s (batches of %d, skipping several at a time: %v):\n%s gives\n%s, want\n%s", c.policy, c.rule, batch, skips, c.truth, got, c.want)
				}
			}
		}
	}
	if d := deciders(None(), target(1))[0]; d != nil {
		t.Errorf("none has a decider, %v", d)
	}
}

// After 1024 hits runlength probes about 1 in 64, not at regular distances; a miss makes it probe all again.
func TestRunLengthSamples(t *testing.T) {
	d := deciders(RunLength(), target(1))[0]
	replay(d, rep("h", 1024), 16, true)
	const n = 64 * 1000
	said := replay(d, rep("h", n), 16, true)
	if probed := strings.Count(said, "h"); probed < 850 || probed > 1150 { // 1000 ± 5 standard deviations
		t.Errorf("of %d ranges it probed %d, want about 1000", n, probed)
	}
	if distances(said) < 20 {
		t.Error("it probes at regular distances")
	}
	said = replay(d, rep("m", 1000)+rep("h", 1024), 16, true)
	first := strings.IndexByte(said, 'm')
	if first < 0 || strings.Contains(said[first:], ".") {
		t.Error("after a miss it skips before it has seen 1024 hits")
	}
}

// distances is how many different distances lie between two probes.
func distances(said string) int {
	seen := map[int]bool{}
	for _, gap := range strings.Split(said, "h") {
		seen[len(gap)] = true
	}
	return len(seen)
}

// What was seen resident is skipped, what was missing is not, and a range with one unknown page is probed.
func TestBitmapRemembersPages(t *testing.T) {
	d := deciders(Bitmap(), target(1))[0]
	replay(d, rep("hhm", 40), 16, true)
	if got, want := replay(d, rep("h", 120), 16, true), rep("..h", 40); got != want {
		t.Errorf("it skips what it knows: %s, want %s", got, want)
	}
	if got, want := replay(d, rep("h", 130), 16, true), rep(".", 120)+rep("h", 10); got != want {
		t.Errorf("it learns what it did not know: %s, want %s", got, want)
	}
	for _, c := range []struct {
		first, last int64 // pages
		want        Action
	}{{0, 129, Skip}, {60, 70, Skip}, {63, 63, Skip}, {64, 64, Skip}, {129, 130, Probe}, {130, 130, Probe}, {0, 200, Probe}, {1023, 1023, Probe}} {
		r := strategy.Range{Off: c.first * page, N: int(c.last-c.first+1) * page}
		if got := d.Decide(r); got != c.want {
			t.Errorf("pages %d to %d: %v, want %v", c.first, c.last, got, c.want)
		}
	}
	whole := strategy.Range{N: 1024 * page}
	if d.Learn(whole, true); d.Decide(whole) != Skip {
		t.Error("it does not remember a range of many words")
	}
}

// The last range of a file that does not end on a page is known by its page, too.
func TestBitmapAtTheEnd(t *testing.T) {
	tg := target(1)
	tg.Size = 64*page + 100
	d := deciders(Bitmap(), tg)[0]
	r := strategy.Range{Off: 64 * page, N: 100}
	if d.Decide(r) != Probe {
		t.Error("it knows what it never saw")
	}
	if d.Learn(r, true); d.Decide(r) != Skip {
		t.Error("it does not know what it saw")
	}
}

// After 60 s everything is forgotten, within 256 ranges.
func TestBitmapForgetsWithTime(t *testing.T) {
	var now atomic.Int64
	start := time.Now()
	ds := deciders(bitmap{func() time.Time { return start.Add(time.Duration(now.Load())) }}, target(2))
	replay(ds[0], rep("h", 1024), 16, true)
	now.Store(int64(60*time.Second - 1))
	if got := replay(ds[0], rep("h", 1024), 16, true); got != rep(".", 1024) {
		t.Error("it has forgotten before 60 s")
	}
	now.Store(int64(60 * time.Second))
	got := replay(ds[1], rep("h", 1024), 16, true)
	if i := strings.IndexByte(got, 'h'); i < 0 || i >= 256 || strings.Contains(got[i:], ".") {
		t.Errorf("at 60 s it probes from range %d on, want from one of the next 256 on", i)
	}
	if got := replay(ds[0], rep("h", 1024), 16, true); !strings.HasSuffix(got, rep(".", 768)) {
		t.Error("it forgets again before another 60 s have passed")
	}
}

// Forget forgets at once, for all workers.
func TestBitmapForgetsWhenTold(t *testing.T) {
	ds := deciders(Bitmap(), target(2))
	replay(ds[0], rep("h", 100), 16, true)
	ds[1].(interface{ Forget() }).Forget()
	if got := replay(ds[0], rep("h", 100), 16, true); got != rep("h", 100) {
		t.Error("it remembers what it was told to forget")
	}
}
