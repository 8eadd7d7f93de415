package storedfields

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/storedfields/lucene"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

var indexes = flag.String("indexes", filepath.Join("lucene", "testdata"), "directory of RELEASE/NAME/ indexes with docs.tsv or docs.tsv.gz")

func goldenDirs(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(*indexes, "*", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no indexes in %s: %v", *indexes, err)
	}
	return dirs
}

// bodySums are the SHA-256 of field body of each document, as the library was given it.
func bodySums(t *testing.T, dir string) (sums []string) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "docs.tsv"))
	var in io.Reader = f
	if err != nil {
		if f, err = os.Open(filepath.Join(dir, "docs.tsv.gz")); err != nil {
			t.Fatal(err)
		}
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	defer f.Close()
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if w := strings.Split(lines.Text(), "\t"); !strings.HasPrefix(w[0], "#") {
			sums = append(sums, w[2])
		}
	}
	return sums
}

func openCorpus(t testing.TB, dir string) *Corpus {
	t.Helper()
	c, err := openIndex(dir, config.LuceneCheckFull)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func load(t testing.TB, settings ...string) *config.Config {
	t.Helper()
	c, err := readbench.Load(settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// strategySource reads the files of a corpus by a strategy, as a readbench.Worker does.
type strategySource struct {
	readers []strategy.Reader
	close   []func() error
}

func newStrategySource(t *testing.T, s strategy.Strategy, c *Corpus) *strategySource {
	t.Helper()
	src := &strategySource{}
	t.Cleanup(func() {
		for _, f := range src.close {
			if err := f(); err != nil {
				t.Error(err)
			}
		}
	})
	setup := strategy.Setup{Threads: 1, Batch: maxRanges, Depth: 16, MaxRange: c.longest}
	for _, path := range c.Files {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.Open(strategy.NewFile(path, st.Size(), nil), setup)
		if errors.Is(err, strategy.ErrUnsupported) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := o.Reader(0)
		if errors.Is(err, strategy.ErrUnsupported) {
			t.Skip(errors.Join(err, o.Close()))
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := r.(io.Closer); ok {
			src.close = append(src.close, c.Close)
		}
		src.readers, src.close = append(src.readers, r), append(src.close, o.Close)
	}
	return src
}

func (s *strategySource) Fetch(file int, rs []strategy.Range, each func(int, []byte) error) error {
	if b, ok := s.readers[file].(strategy.BatchReader); ok {
		return b.ReadBatch(rs, each)
	}
	for i, r := range rs {
		p, err := s.readers[file].Read(r)
		if err == nil {
			err = each(i, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *strategySource) Prefetch(file int, rs []strategy.Range) error {
	if p, ok := s.readers[file].(strategy.Prefetcher); ok {
		return p.Prefetch(rs)
	}
	return nil
}

// Every document of every index is what the library was given, through every strategy and in every way of reading.
func TestEveryStrategyRetrievesEveryDocument(t *testing.T) {
	all := []strategy.Strategy{
		InPlace(strategies.Mmap()), InPlace(strategies.MmapRandom()), strategies.MmapRandom(), strategies.Pread(), strategies.PreadDirect(),
		strategies.ReadAt(), strategies.Uring(strategies.EngineRing), strategies.UringDirect(strategies.EngineRing),
		InPlace(strategies.MmapRandomPrefetch()), InPlace(strategies.UringMmap(strategies.EngineRing)),
		InPlace(strategies.Prefetching{Policy: prefetch.Backoff(), Random: true}),
	}
	for _, dir := range goldenDirs(t) {
		want := bodySums(t, dir)
		c := openCorpus(t, dir)
		if c.Index.Docs != int64(len(want)) {
			t.Fatalf("%s: %d documents, want %d", dir, c.Index.Docs, len(want))
		}
		var err error
		if c.sums, err = takeSums(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		deflate := c.segments[0].Mode == lucene.BestCompression
		for i, s := range all {
			if deflate && slow && i%5 != 0 {
				continue
			}
			t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir)+"/"+s.Name(), func(t *testing.T) {
				runtime.LockOSThread() // a ring is one thread's
				defer runtime.UnlockOSThread()
				r := newRetriever(newStrategySource(t, s, c), c, &stats{}, i == 0)
				places := make([]place, window)
				step := int64(window)
				if deflate && slow {
					step *= 8
				}
				for from := int64(0); from < c.Index.Docs; from += step {
					places := places[:min(window, c.Index.Docs-from)]
					for k := range places {
						// Far from each other, and in an order that is none.
						doc := (from + int64(k)) * 7919 % c.Index.Docs
						if c.Index.Docs%7919 == 0 {
							doc = from + int64(k)
						}
						if err := c.locate(&places[k], doc); err != nil {
							t.Fatal(err)
						}
					}
					if err := r.hintBlocks(places); err != nil {
						t.Fatal(err)
					}
					if err := r.together(places, true); err != nil { // which compares the checksums
						t.Fatal(err)
					}
					for k := range places {
						checkBody(t, c, &r.decoders[k], &places[k], want)
					}
					if deflate || i%2 == 1 {
						continue
					}
					if err := errors.Join(r.oneByOne(places), r.hintSpans(places)); err != nil {
						t.Fatal(err)
					}
				}
				if r.st.docs == 0 || r.st.used == 0 {
					t.Errorf("counts %+v", r.st)
				}
			})
		}
	}
}

func checkBody(t *testing.T, c *Corpus, d *lucene.Decoder, p *place, want []string) {
	t.Helper()
	var f lucene.Field
	for fields := d.Fields(); fields.Next(&f); {
		if name, _ := p.seg.FieldName(f.Number); name != "body" {
			continue
		}
		if sum := sha256.Sum256(f.Bytes); hex.EncodeToString(sum[:]) != want[p.doc] {
			t.Fatalf("document %d: body of %d bytes has the sum %x, want %s", p.doc, len(f.Bytes), sum, want[p.doc])
		}
		return
	}
	t.Fatalf("document %d has no body", p.doc)
}
