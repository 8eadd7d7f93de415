package storedfields

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// memory is the files of a corpus in memory; it notes what is fetched and hinted.
type memory struct {
	files   [][]byte
	fetched []strategy.Range
	hinted  []strategy.Range
	note    bool
}

func newMemory(t testing.TB, c *Corpus) *memory {
	t.Helper()
	m := &memory{note: true}
	for _, f := range c.Files {
		p, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m.files = append(m.files, p)
	}
	return m
}

func (m *memory) Fetch(file int, rs []strategy.Range, each func(int, []byte) error) error {
	if m.note {
		m.fetched = append(m.fetched, rs...)
	}
	for i := range rs {
		i = len(rs) - 1 - i // in any order
		if err := each(i, m.files[file][rs[i].Off:rs[i].Off+int64(rs[i].N)]); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Prefetch(_ int, rs []strategy.Range) error {
	if m.note {
		m.hinted = append(m.hinted, rs...)
	}
	return nil
}

// builtCorpus builds an index for a test.
func builtCorpus(t testing.TB, s spec) *Corpus {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	if err := s.build(t.Context(), dir, config.LuceneCheckEnds); err != nil {
		t.Fatal(err)
	}
	c, err := s.open(dir, config.LuceneCheckFull)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// corpora are indexes of several shapes.
func corpora(t *testing.T) map[string]*Corpus {
	all := map[string]*Corpus{
		"random": builtCorpus(t, spec{docs: 500, size: 4096, text: config.DocTextRandom, seed: 1}),
		"json":   builtCorpus(t, spec{docs: 500, size: 4096, text: config.DocTextJSON, seed: 1}),
		"small":  builtCorpus(t, spec{docs: 3000, size: 50, text: config.DocTextJSON, seed: 1}),
		"large":  builtCorpus(t, spec{docs: 5, size: 300000, text: config.DocTextRandom, seed: 1}),
	}
	for _, name := range []string{"10.6/mixed", "10.6/segments", "10.6/compound", "10.6/tiny", "8.7/big"} {
		all[name] = openCorpus(t, filepath.Join("lucene", "testdata", filepath.FromSlash(name)))
	}
	return all
}

// locateAll returns a window of documents, far from each other.
func locateAll(t testing.TB, c *Corpus, first int64, n int) []place {
	t.Helper()
	places := make([]place, n)
	for i := range places {
		if err := c.locate(&places[i], (first+int64(i)*7919)%c.Index.Docs); err != nil {
			t.Fatal(err)
		}
	}
	return places
}

// No page is read twice for a document, and no byte outside its chunk.
func TestNoPageIsReadTwice(t *testing.T) {
	const page = 4096
	for name, c := range corpora(t) {
		m := newMemory(t, c)
		r := newRetriever(m, c, &stats{}, false)
		for doc := range min(c.Index.Docs, 1000) {
			places := locateAll(t, c, doc, 1)
			m.fetched = m.fetched[:0]
			if err := r.oneByOne(places); err != nil {
				t.Fatal(err)
			}
			seen := map[int64]bool{}
			k := places[0].chunk
			for _, f := range m.fetched {
				if f.N < 1 || f.N > c.longest || f.Off < k.Offset || f.Off+int64(f.N) > k.Offset+k.Length {
					t.Fatalf("%s: document %d reads %+v, its chunk is %+v", name, places[0].doc, f, k)
				}
				for p := f.Off / page; p <= (f.Off+int64(f.N)-1)/page; p++ {
					if seen[p] {
						t.Fatalf("%s: document %d: page %d is read twice: %+v of chunk %+v", name, places[0].doc, p, m.fetched, k)
					}
					seen[p] = true
				}
			}
		}
	}
}

// Whole-chunk hints cover what is read; the last 16 chunks are not hinted again. Spans cover it too, and are of no page that
// is not read.
func TestHintsCoverWhatIsRead(t *testing.T) {
	const page = 4096
	pages := func(rs []strategy.Range) map[int64]bool {
		all := map[int64]bool{}
		for _, r := range rs {
			for p := r.Off / page; p <= (r.Off+int64(r.N)-1)/page; p++ {
				all[p] = true
			}
		}
		return all
	}
	for name, c := range corpora(t) {
		if len(c.Files) > 1 {
			continue // pages of several files would have to be told apart
		}
		m := newMemory(t, c)
		for _, way := range []string{"block", "span", "only"} {
			r := newRetriever(m, c, &stats{}, false)
			for first := int64(0); first < 300; first += window {
				m.fetched, m.hinted = nil, nil
				r.ahead.forget()
				places := locateAll(t, c, first*3, window)
				var err error
				switch way {
				case "block":
					err = r.hintBlocks(places)
					hinted := len(m.hinted)
					if err == nil {
						err = r.hintBlocks(places)
					}
					if len(m.hinted) != hinted {
						t.Fatalf("%s: %d chunks are hinted, and then %d more of the same", name, hinted, len(m.hinted)-hinted)
					}
					if err == nil {
						err = r.oneByOne(places)
					}
				case "span":
					err = r.together(places, true)
				case "only":
					if err = r.hintSpans(places); err == nil {
						m.fetched = nil
						err = r.together(places, false)
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				fetched, hinted := pages(m.fetched), pages(m.hinted)
				for p := range fetched {
					if !hinted[p] {
						t.Fatalf("%s, %s: page %d is read and not hinted", name, way, p)
					}
				}
				for p := range hinted {
					if way == "span" && !fetched[p] {
						t.Fatalf("%s: page %d is hinted and not read", name, p)
					}
				}
				if way == "only" && name == "random" && len(hinted) > len(fetched)*11/10 {
					t.Errorf("%s: %d pages are hinted, %d read", name, len(hinted), len(fetched))
				}
			}
		}
	}
}

// The measured path allocates nothing.
func TestRetrievingAllocatesNothing(t *testing.T) {
	for name, c := range corpora(t) {
		m := newMemory(t, c)
		m.note = false
		st := &stats{}
		r := newRetriever(m, c, st, false)
		for _, f := range []form{{}, {label: "block"}, {label: "span"}, {label: "block", only: true}, {label: "span", only: true}} {
			for _, batch := range []bool{false, true} {
				if slow && batch {
					continue
				}
				draw := &steps{c: c}
				op := newOp(r, r.way(f, batch), draw, 20, true)
				run := func() {
					if err := op(); err != nil {
						t.Fatal(err)
					}
				}
				for range min(c.Index.Docs/10, 100) {
					run()
				}
				if n := testing.AllocsPerRun(50, run); n != 0 {
					t.Errorf("%s, %+v, batch %v: %v allocations an op", name, f, batch, n)
				}
			}
		}
		if st.docs == 0 {
			t.Error("no documents are counted")
		}
	}
}

// steps draws documents in steps, a few at a time.
type steps struct {
	c    *Corpus
	next int64
}

func (d *steps) draw(places []place) (int, error) {
	n := min(len(places), 17)
	for i := range n {
		d.next = (d.next + 7919) % d.c.Index.Docs
		if err := d.c.locate(&places[i], d.next); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// A document that is not the one that was written is an error that names it; so is one that does not decode.
func TestWrongDocuments(t *testing.T) {
	c := builtCorpus(t, spec{docs: 200, size: 4096, text: config.DocTextRandom, seed: 1})
	m := newMemory(t, c)
	r := newRetriever(m, c, &stats{}, false)
	places := locateAll(t, c, 25, 1)
	if err := r.oneByOne(places); err != nil {
		t.Fatal(err)
	}
	last := m.fetched[len(m.fetched)-1]
	m.files[0][last.Off+int64(last.N)-200] ^= 1 // a literal: it decodes to something else
	err := r.oneByOne(places)
	if err == nil || !strings.Contains(err.Error(), "document 25 of") || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("%v, want one about the checksum of document 25", err)
	}
	for i := places[0].chunk.Offset; i < last.Off; i++ {
		m.files[0][i] = 0xff
	}
	r = newRetriever(m, c, &stats{}, false)
	if err := r.oneByOne(places); err == nil || !strings.Contains(err.Error(), "corrupt index") || !strings.Contains(err.Error(), "_0.fdt, chunk 1") {
		t.Errorf("%v, want one about chunk 1", err)
	}
}

// The last 16 chunks are remembered, and no more.
func TestRemember(t *testing.T) {
	var a ahead
	a.forget()
	for id := range int64(16) {
		if !a.remember(id) {
			t.Fatalf("%d is known at first", id)
		}
	}
	for id := range int64(16) {
		if a.remember(id) {
			t.Fatalf("%d of 16 is forgotten", id)
		}
	}
	if !a.remember(16) || !a.remember(0) || a.remember(16) || a.remember(2) || !a.remember(1) {
		t.Errorf("the one that was remembered longest is not the one forgotten: %v", a.recent)
	}
}
