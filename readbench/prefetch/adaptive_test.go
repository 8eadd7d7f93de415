package prefetch

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/readbench/suite/readbench/strategy"
)

// What the borders are on a 2-processor machine with a fast disk, and how they move with each cost.
func TestAdaptiveRules(t *testing.T) {
	base := Target{
		Workers: 1, Processors: 2, Faults: 5,
		Probe: 340 * time.Nanosecond, Hint: 450 * time.Nanosecond, Read: 80 * time.Microsecond,
	}
	with := func(change func(*Target)) Target {
		tg := base
		change(&tg)
		return tg
	}
	for _, c := range []struct {
		rule string
		t    Target
		want adaptiveRules
	}{
		{"one worker", base, adaptiveRules{3294, 1422, certain * 11 / 45}},
		{"as many workers as processors", with(func(t *Target) { t.Workers = 2 }), adaptiveRules{3294, 1422, certain * 11 / 45}},
		{"more workers than processors", with(func(t *Target) { t.Workers = 3 }), adaptiveRules{1024, 1024, certain * 11 / 45}},
		{"reads of one page", with(func(t *Target) { t.Faults = 1 }), adaptiveRules{1024, 1024, certain * 11 / 45}},
		{"a slow disk", with(func(t *Target) { t.Read = 5 * time.Millisecond }), adaptiveRules{8192, 8192, certain * 11 / 45}},
		{"a dear probe", with(func(t *Target) { t.Probe = 900 * time.Nanosecond }), adaptiveRules{1244, 1422, 0}},
		{"a hint that costs as much as a probe", with(func(t *Target) { t.Hint = 300 * time.Nanosecond }), adaptiveRules{3294, 2133, certain / 8}},
		{"a dear hint", with(func(t *Target) { t.Hint = 2500 * time.Nanosecond }), adaptiveRules{3294, 1024, certain / 2}},
		{"nothing known", Target{Workers: 1, Processors: 1, Faults: 1}, adaptiveRules{1024, 1024, certain / 8}},
	} {
		if got := newAdaptiveRules(c.t); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.rule, got, c.want)
		}
	}
}

// The moods, on written sequences, at the costs of target: it trusts after 4666 hits, trusts after 2000 of a
// flood's probes, floods from a quarter of misses on.
func TestAdaptiveMoods(t *testing.T) {
	const trust = 4666
	r := newAdaptiveRules(target(1))
	if r.trust != trust || r.trustFlood != 2000 || r.flood != certain/4 {
		t.Fatalf("the rules are %+v", r)
	}
	fresh := func() *adaptiveDecider { return deciders(Adaptive(), target(1))[0].(*adaptiveDecider) }

	d := fresh()
	if got := replay(d, rep("h", 100)+"m"+rep("h", 100), 16, true); strings.ContainsAny(got, ".H") {
		t.Errorf("a worker starts without watching all: %s", got)
	}

	d = fresh()
	replay(d, rep("h", trust-1), 16, true)
	if d.mood != watching {
		t.Errorf("after %d hits its mood is %d, want watching", trust-1, d.mood)
	}
	replay(d, "h", 16, true)
	if d.mood != trusting {
		t.Fatalf("after %d hits its mood is %d, want trusting", trust, d.mood)
	}
	const n = 64 * 1000
	said := replay(d, rep("h", n), 16, true)
	if probed := strings.Count(said, "h"); probed < 900 || probed > 1100 {
		t.Errorf("while it trusts it probes %d of %d, want about 1000", probed, n)
	}
	if longest(said, '.') > 2*trustSample-2 || distances(said) < 50 {
		t.Errorf("while it trusts it skips up to %d ranges in a row, of %d different lengths", longest(said, '.'), distances(said))
	}
	silent := 0
	for i := 0; i < n; i += 16 {
		if said[i:i+16] == rep(".", 16) {
			silent++
		}
	}
	if share := float64(silent) * 16 / n; share < 0.7 {
		t.Errorf("while it trusts, %.0f %% of the batches make no system call, want most", 100*share)
	}

	// All is cold from here on: within the longest gap it sees that, then no range goes without a hint, and it
	// floods after 5 misses (or a few more, if the first of a flood's probes come at once).
	said = replay(d, rep("m", 400), 16, true)
	first, flood := strings.IndexByte(said, 'm'), strings.IndexByte(said, 'H')
	if first < 0 || first > 2*trustSample-2 || flood < first+5 || flood > first+8 || strings.Contains(said[first:], ".") {
		t.Errorf("when all is cold it sees the first miss after %d ranges and floods after %d: %s", first, flood, said)
	}
	said = replay(d, rep("m", 32*1000), 16, true)
	if probed := strings.Count(said, "m"); probed < 850 || probed > 1150 || strings.Contains(said, ".") {
		t.Errorf("a flooding worker probes %d of %d ranges, want about 1000, and skips %d, want none", probed, 32*1000, strings.Count(said, "."))
	}

	// All is hot again: it watches before 1500 ranges have been hinted in vain, and then trusts again.
	said = replay(d, rep("h", 1500+trust), 16, true)
	if hinted := strings.Count(said, "H"); hinted > 1500 || d.mood != trusting {
		t.Errorf("when all is hot again it hints %d ranges in vain; mood %d", hinted, d.mood)
	}
}

// longest is the length of the longest run of c.
func longest(s string, c byte) (n int) {
	for _, run := range strings.FieldsFunc(s, func(r rune) bool { return r != rune(c) }) {
		n = max(n, len(run))
	}
	return n
}

// Where a hint costs clearly less than a probe, one miss makes a worker flood, and only a long run of hits ends that.
func TestAdaptiveFloodsWhereProbesAreDear(t *testing.T) {
	tg := target(1)
	tg.Hint = tg.Probe / 2
	d := deciders(Adaptive(), tg)[0].(*adaptiveDecider)
	if got := replay(d, "hhhm"+rep("h", 60), 16, true); !strings.HasPrefix(got, "hhhm") || strings.Count(got, "H") < 50 || strings.Contains(got, ".") {
		t.Errorf("after a miss: %s", got)
	}
	run := newAdaptiveRules(tg).trustFlood
	replay(d, rep("h", 4*floodSample*run), 16, true)
	if d.mood != trusting {
		t.Errorf("after some %d probes were hits its mood is %d, want trusting", 4*run, d.mood)
	}
}

// place shows n ranges in one region of the file of target, one after the other, and counts what is done about them.
func place(d *adaptiveDecider, region int64, n int, resident bool) (count [3]int) {
	r := strategy.Range{Off: region * 1024 / regions * page, N: page}
	for range n {
		if d.Skip([]strategy.Range{r}) == 1 {
			count[Skip]++
			continue
		}
		action := d.Decide(r)
		if count[action]++; action == Probe {
			d.Learn(r, resident)
		}
	}
	return count
}

// A region that has had no miss for long, while others had many, is probed one in 64; what is cold is hinted all the
// while. A miss in such a region ends the trust in all of them.
func TestAdaptiveTrustsRegions(t *testing.T) {
	d := deciders(Adaptive(), target(1))[0].(*adaptiveDecider)
	mix := func(hits, rounds int) { // regions 0 and 1 are hot, 15 is cold
		for range rounds {
			place(d, 0, hits/2, true)
			place(d, 1, hits/2, true)
			place(d, 15, 1, false)
		}
	}
	mix(100, 9)
	if d.trusted != 0 {
		t.Fatalf("after 450 hits in a region, of which less than %d are not enough, it trusts %b", regionHits, d.trusted)
	}
	mix(100, 40)
	if d.trusted != 1<<0|1<<1 || d.mood == trusting {
		t.Fatalf("after 2450 hits in each of two regions, and 49 misses in another, it trusts %b; mood %d", d.trusted, d.mood)
	}
	const n = 64 * 1000
	if got := place(d, 0, n, true); got[Probe] < 900 || got[Probe] > 1100 || got[Hint] > 0 {
		t.Errorf("of %d ranges in a trusted region it probes %d and hints %d, want about 1000 and none", n, got[Probe], got[Hint])
	}
	if got := place(d, 15, 1000, false); got[Skip] > 0 || d.mood != flooding || d.trusted != 1<<0|1<<1 {
		t.Errorf("of 1000 cold ranges it skips %d, want none; mood %d, it trusts %b", got[Skip], d.mood, d.trusted)
	}
	if got := place(d, 0, 1000, true); got[Hint] > 0 {
		t.Errorf("while it floods it hints %d of 1000 ranges in a trusted region, want none", got[Hint])
	}
	if got := place(d, 1, 1000, false); got[Skip] > 2*trustSample-2 || d.trusted != 0 {
		t.Errorf("when a trusted region has become cold it skips %d ranges, want at most %d; it trusts %b", got[Skip], 2*trustSample-2, d.trusted)
	}
}

// Where misses are spread over the file, regions do not come to be trusted by chance.
func TestAdaptiveTrustsNoRegionByChance(t *testing.T) {
	const n = 200_000
	for _, share := range []float64{.01, .1, .5} {
		rng := rand.New(rand.NewPCG(1, 2))
		d, skipped := deciders(Adaptive(), target(1))[0].(*adaptiveDecider), 0
		for range n {
			skipped += place(d, rng.Int64N(regions), 1, rng.Float64() >= share)[Skip]
		}
		if skipped > n/200 {
			t.Errorf("at %g %% misses everywhere it skips %d of %d ranges, want less than 1 in 200", 100*share, skipped, n)
		}
	}
}

// At any share, batches of the same truth give the same decisions: nothing depends on time or on another run.
func TestAdaptiveIsDeterministic(t *testing.T) {
	truth := rep(rep("h", 700)+"m", 30) + rep("hm", 500) + rep("h", 9000)
	a, b := deciders(Adaptive(), target(2)), deciders(Adaptive(), target(2))
	for id := range a {
		if replay(a[id], truth, 16, true) != replay(b[id], truth, 16, true) {
			t.Errorf("worker %d decides differently the second time", id)
		}
	}
}
