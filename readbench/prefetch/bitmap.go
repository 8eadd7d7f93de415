package prefetch

import (
	"math/bits"
	"sync/atomic"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/readbench/strategy"
)

// Bitmap remembers which pages were seen resident, in a bitmap that all workers share, and probes a range only
// if one of its pages is unknown. After 60 s everything is forgotten. VictoriaMetrics does that in production.
//
// What is evicted in the meantime stays known, and is then read without a hint. It forgets when it is told to
// (strategy.Forgetter): an eviction between two epochs of a benchmark takes no time that would count for it.
//
// A worker looks at the clock once in 256 ranges, so up to that many may be decided about on what is older. A
// bitmap takes 1 bit for 4 KiB, 32 KiB a GiB of file.
func Bitmap() Policy { return bitmap{time.Now} }

const (
	bitmapMemory = 60 * time.Second
	bitmapLook   = 256 // ranges of a worker between two looks at the clock
	bitmapUnit   = 12  // a bit is 1<<bitmapUnit bytes, the smallest page that there is: a constant, since shifts by a variable are slow
)

type bitmap struct{ now func() time.Time }

func (bitmap) Name() string { return "bitmap" }

func (p bitmap) Open(t Target) func(int) Decider {
	m := &seen{now: p.now, start: p.now(), words: make([]atomic.Uint64, max(0, t.Size-1)>>(bitmapUnit+6)+1)}
	return func(int) Decider { return &bitmapDecider{m: m, look: bitmapLook} }
}

// seen is what was seen resident.
type seen struct {
	now     func() time.Time
	start   time.Time
	words   []atomic.Uint64
	_       cpu.CacheLinePad
	cleared atomic.Int64 // when it was cleared because of its age, ns since start
	_       cpu.CacheLinePad
}

// units are the first and the last unit of r.
func units(r strategy.Range) (first, last uint64) {
	return uint64(r.Off) >> bitmapUnit, uint64(r.Off+int64(r.N)-1) >> bitmapUnit
}

// mask is the bits of the units first to last, which are in one word.
func mask(first, last uint64) uint64 { return ^uint64(0) >> (63 - (last-first)&63) << (first & 63) }

// knows reports whether all of the units first to last are known.
func (m *seen) knows(first, last uint64) bool {
	for ; first <= last; first = first | 63 + 1 {
		if ^m.words[first>>6].Load()&mask(first, min(first|63, last)) != 0 {
			return false
		}
	}
	return true
}

// add makes all of r known. It writes only what is new: a word that many workers read stays in their caches.
func (m *seen) add(r strategy.Range) {
	first, last := units(r)
	for ; first <= last; first = first | 63 + 1 {
		if want := mask(first, min(first|63, last)); ^m.words[first>>6].Load()&want != 0 {
			m.words[first>>6].Or(want)
		}
	}
}

func (m *seen) clear() {
	for i := range m.words {
		m.words[i].Store(0)
	}
}

// expire clears the bitmap if it is too old; one of several workers does it.
func (m *seen) expire() {
	age := int64(m.now().Sub(m.start))
	cleared := m.cleared.Load()
	if age-cleared >= int64(bitmapMemory) && m.cleared.CompareAndSwap(cleared, age) {
		m.clear()
	}
}

type bitmapDecider struct {
	_    cpu.CacheLinePad
	m    *seen
	look int // ranges until the next look at the clock
	_    cpu.CacheLinePad
}

// count counts the next n ranges, and looks at the clock first if that is due among them.
func (d *bitmapDecider) count(n int) {
	if d.look -= n; d.look <= 0 {
		d.look = bitmapLook - n
		d.m.expire()
	}
}

// Skip skips what is known.
func (d *bitmapDecider) Skip(rs []strategy.Range) int {
	d.count(len(rs))
	words := d.m.words
	for i := range rs {
		first, last := units(rs[i])
		// How many units from first on are known, up to the end of their word: the shift brings in zeros.
		if uint64(bits.TrailingZeros64(^(words[first>>6].Load() >> (first & 63)))) > last-first {
			continue
		}
		if d.m.knows(first, last) { // it goes on in the next word
			continue
		}
		d.look += len(rs) - i // Decide and later calls count these
		return i
	}
	return len(rs)
}

func (d *bitmapDecider) Decide(r strategy.Range) Action {
	d.count(1)
	if d.m.knows(units(r)) {
		return Skip
	}
	return Probe
}

func (d *bitmapDecider) Learn(r strategy.Range, resident bool) {
	if resident {
		d.m.add(r)
	}
}

// Forget clears the bitmap of all workers. None of them reads when it is called.
func (d *bitmapDecider) Forget() { d.m.clear() }
