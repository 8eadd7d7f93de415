package prefetch

import (
	"math/bits"
	"sync/atomic"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/readbench"
)

// Bitmap remembers which pages were seen resident, in a bitmap that all workers share, and probes a range only
// if one of its pages is unknown. After 60 s everything is forgotten. VictoriaMetrics does that in production.
//
// What is evicted in the meantime stays known, and is then read without a hint. It forgets when it is told to
// (readbench.Forgetter): an eviction between two epochs of a benchmark takes no time that would count for it.
//
// A worker looks at the clock once in 256 ranges, so up to that many may be decided about on what is older. A
// bitmap takes 1 bit a page, 32 KiB a GiB of file.
func Bitmap() Policy { return bitmap{time.Now} }

const (
	bitmapMemory = 60 * time.Second
	bitmapLook   = 256 // ranges of a worker between two looks at the clock
)

type bitmap struct{ now func() time.Time }

func (bitmap) Name() string { return "bitmap" }

func (p bitmap) Open(t Target) func(int) Decider {
	shift := uint(bits.TrailingZeros(uint(t.PageSize)))
	pages := (t.Size + int64(t.PageSize) - 1) >> shift
	m := &seen{now: p.now, start: p.now(), shift: shift, words: make([]atomic.Uint64, (pages+63)/64)}
	return func(int) Decider { return &bitmapDecider{m: m} }
}

// seen is the pages that were seen resident.
type seen struct {
	now     func() time.Time
	start   time.Time
	shift   uint // from bytes to pages
	words   []atomic.Uint64
	_       cpu.CacheLinePad
	cleared atomic.Int64 // when it was cleared because of its age, ns since start
	_       cpu.CacheLinePad
}

// mask is the bits of the pages first to last, which are in one word.
func mask(first, last uint64) uint64 { return ^uint64(0) >> (63 - (last-first)&63) << (first & 63) }

// knows reports whether all of the pages first to last are known.
func (m *seen) knows(first, last uint64) bool {
	for ; first <= last; first = first | 63 + 1 {
		if ^m.words[first>>6].Load()&mask(first, min(first|63, last)) != 0 {
			return false
		}
	}
	return true
}

// pages are the first and the last page of r.
func (m *seen) pages(r readbench.Range) (first, last uint64) {
	return uint64(r.Off) >> (m.shift & 63), uint64(r.Off+int64(r.N)-1) >> (m.shift & 63)
}

// add makes all pages of r known. It writes only what is new: a word that many workers read stays in their caches.
func (m *seen) add(r readbench.Range) {
	first, last := m.pages(r)
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
	_     cpu.CacheLinePad
	m     *seen
	count int // ranges
	_     cpu.CacheLinePad
}

// look counts n more ranges, and looks at the clock where the count passes a multiple of bitmapLook.
func (d *bitmapDecider) look(n int) {
	if before := d.count; (before+n)/bitmapLook != before/bitmapLook {
		d.m.expire()
	}
	d.count += n
}

// Skip skips what is known.
func (d *bitmapDecider) Skip(rs []readbench.Range) int {
	d.look(len(rs))
	words, shift := d.m.words, d.m.shift&63
	for i := range rs {
		first, last := uint64(rs[i].Off)>>shift, uint64(rs[i].Off+int64(rs[i].N)-1)>>shift
		if first>>6 == last>>6 { // knows, with what most ranges need in line
			if ^words[first>>6].Load()&mask(first, last) == 0 {
				continue
			}
		} else if d.m.knows(first, last) {
			continue
		}
		d.count -= len(rs) - i // Decide and later calls count these
		return i
	}
	return len(rs)
}

func (d *bitmapDecider) Decide(r readbench.Range) Action {
	d.look(1)
	if d.m.knows(d.m.pages(r)) {
		return Skip
	}
	return Probe
}

func (d *bitmapDecider) Learn(r readbench.Range, resident bool) {
	if resident {
		d.m.add(r)
	}
}

// Forget clears the bitmap of all workers. None of them reads when it is called.
func (d *bitmapDecider) Forget() { d.m.clear() }
