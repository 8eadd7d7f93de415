package readtest

import (
	"bytes"
	"sync"

	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// A hoard is bytes that a reader keeps and must not.
type hoard struct {
	times int // how often a range is read until it is kept
	seen  map[strategy.Range]int
	kept  map[strategy.Range][]byte
}

func newHoard(times int) *hoard {
	return &hoard{times, map[strategy.Range]int{}, map[strategy.Range][]byte{}}
}

// get returns what is kept, or else what read reads.
func (h *hoard) get(rg strategy.Range, read func(strategy.Range) ([]byte, error)) ([]byte, error) {
	if p, ok := h.kept[rg]; ok {
		return p, nil
	}
	p, err := read(rg)
	if h.seen[rg]++; err == nil && h.seen[rg] >= h.times {
		h.kept[rg] = bytes.Clone(p)
	}
	return p, err
}

// hoarding keeps what Read delivers.
type hoarding struct {
	counting
	*hoard
}

func (r hoarding) Read(rg strategy.Range) ([]byte, error) { return r.get(rg, r.counting.Read) }

// forgetful empties its hoard when it is told that the file was evicted: it is the more a lie when it is hot.
type forgetful struct{ hoarding }

func (r forgetful) Forget() { clear(r.kept) }

// hoardingBatches keeps what ReadBatch delivers.
type hoardingBatches struct{ hoarding }

func (r hoardingBatches) Read(rg strategy.Range) ([]byte, error) { return r.counting.Read(rg) }

func (r hoardingBatches) ReadBatch(rs []strategy.Range, each func(int, []byte) error) error {
	for i, rg := range rs {
		p, err := r.hoarding.Read(rg)
		if err == nil {
			err = each(i, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hoardingPipeliner keeps what Finish delivers.
type hoardingPipeliner struct {
	hoardingBatches
	started *[][]strategy.Range
}

func (r hoardingPipeliner) ReadBatch(rs []strategy.Range, each func(int, []byte) error) error {
	return hoardingBatches{hoarding{r.counting, newHoard(1)}}.ReadBatch(rs, each)
}

func (r hoardingPipeliner) Start(rs []strategy.Range) error {
	*r.started = append(*r.started, append([]strategy.Range(nil), rs...))
	return nil
}

func (r hoardingPipeliner) Finish(each func(int, []byte) error) error {
	rs := (*r.started)[0]
	*r.started = (*r.started)[1:]
	return r.hoardingBatches.ReadBatch(rs, each)
}

// hoardingHints keeps what was read after it was hinted.
type hoardingHints struct {
	hoarding
	hinted map[strategy.Range]bool
}

func (r hoardingHints) Prefetch(rs []strategy.Range) error {
	clear(r.hinted)
	for _, rg := range rs {
		r.hinted[rg] = true
	}
	return nil
}

func (r hoardingHints) Read(rg strategy.Range) ([]byte, error) {
	if !r.hinted[rg] {
		return r.counting.Read(rg)
	}
	delete(r.hinted, rg)
	return r.hoarding.Read(rg)
}

// hoardingLast keeps what it read last, and nothing else.
type hoardingLast struct{ hoarding }

func (r hoardingLast) Read(rg strategy.Range) ([]byte, error) {
	if _, ok := r.kept[rg]; !ok {
		clear(r.kept)
	}
	return r.hoarding.Read(rg)
}

// hoardingAhead reads ahead, and keeps that when it was settled.
type hoardingAhead struct{ hoarding }

func (r hoardingAhead) Read(rg strategy.Range) ([]byte, error) {
	p, ok := r.kept[rg]
	clear(r.kept)
	if ok {
		return p, nil
	}
	if next := (strategy.Range{Off: rg.Off + int64(rg.N), N: rg.N}); next.Off+int64(next.N) <= fileSize {
		ahead, err := r.counting.Read(next)
		if err != nil {
			return nil, err
		}
		r.kept[next] = bytes.Clone(ahead)
	}
	return r.counting.Read(rg)
}

func (hoardingAhead) Settle() error { return nil }

// market is where readers keep what they read for others, not for themselves.
type market struct {
	strategy.Opened
	mu     sync.Mutex
	kept   map[strategy.Range][]byte
	owners map[strategy.Range]int
}

func (m *market) Reader(worker int) (strategy.Reader, error) {
	r, err := m.Opened.Reader(worker)
	if err != nil {
		return nil, err
	}
	return trader{keep(r), m, worker}, nil
}

type trader struct {
	counting
	m  *market
	id int
}

func (t trader) Read(rg strategy.Range) ([]byte, error) {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	if p, ok := t.m.kept[rg]; ok && t.m.owners[rg] != t.id {
		return p, nil
	}
	p, err := t.counting.Read(rg)
	t.m.kept[rg], t.m.owners[rg] = bytes.Clone(p), t.id
	return p, err
}

// whole has all of the file in memory.
type whole struct {
	strategy.Opened
	p []byte
}

func (w whole) Reader(int) (strategy.Reader, error) { return memory(w.p), nil }

type memory []byte

func (m memory) Read(rg strategy.Range) ([]byte, error) { return m[rg.Off:][:rg.N], nil }

func openWhole(o strategy.Opened, f *strategy.File) (strategy.Opened, error) {
	fd, err := f.Open(0)
	if err != nil {
		return nil, err
	}
	defer fd.Close()
	w := whole{o, make([]byte, f.Size())}
	_, err = fd.ReadAt(w.p, 0)
	return w, err
}

type hoarder struct {
	what string
	liar liar
}

// hoarders serve ranges from memory of their own, each on other occasions.
func hoarders() []hoarder {
	every := func(r counting) strategy.Reader { return hoarding{r, newHoard(1)} }
	return []hoarder{
		{"keeps what it read", reads(nil, every)},
		{"keeps what it read directly", reads(strategies.PreadDirect(), every)},
		{"keeps what it read from a mapping", reads(strategies.Mmap(), every)},
		{"keeps what it read twice", reads(nil, func(r counting) strategy.Reader { return hoarding{r, newHoard(2)} })},
		{"keeps what it read five times", reads(nil, func(r counting) strategy.Reader { return hoarding{r, newHoard(5)} })},
		{"keeps what it read last", reads(nil, func(r counting) strategy.Reader { return hoardingLast{hoarding{r, newHoard(1)}} })},
		{"keeps what it read until it is told of an eviction", reads(nil, func(r counting) strategy.Reader { return forgetful{hoarding{r, newHoard(1)}} })},
		{"keeps batches", reads(nil, func(r counting) strategy.Reader { return hoardingBatches{hoarding{r, newHoard(1)}} })},
		{"keeps batches that it read twice", reads(nil, func(r counting) strategy.Reader { return hoardingBatches{hoarding{r, newHoard(2)}} })},
		{"keeps batches that were under way", reads(nil, func(r counting) strategy.Reader {
			return hoardingPipeliner{hoardingBatches{hoarding{r, newHoard(1)}}, new([][]strategy.Range)}
		})},
		{"keeps what was hinted", reads(nil, func(r counting) strategy.Reader {
			return hoardingHints{hoarding{r, newHoard(1)}, map[strategy.Range]bool{}}
		})},
		{"keeps what was hinted twice", reads(strategies.Mmap(), func(r counting) strategy.Reader {
			return hoardingHints{hoarding{r, newHoard(2)}, map[strategy.Range]bool{}}
		})},
		{"keeps what it read ahead", reads(nil, func(r counting) strategy.Reader { return hoardingAhead{hoarding{r, newHoard(1)}} })},
		{"keeps what another worker read", opens(nil, func(o strategy.Opened) strategy.Opened {
			return &market{Opened: o, kept: map[strategy.Range][]byte{}, owners: map[strategy.Range]int{}}
		})},
		{"has read all of the file", liar{opened: openWhole}},
	}
}
