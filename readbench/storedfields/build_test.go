package storedfields

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/readbench/suite/readbench/config"
)

// userCache gives the test a cache directory of its own.
func userCache(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	return filepath.Join(dir, "readbench")
}

func closeCorpus(t *testing.T, c *Corpus, err error) *Corpus {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// An index is built once and used again; another one for other parameters; anew if it is damaged, or another version made it.
func TestBuiltOnce(t *testing.T) {
	cache := userCache(t)
	settings := []string{"READBENCH_DOCS=500", "READBENCH_DOC_SIZE=1KiB", "READBENCH_DOC_TEXT=json"}
	open := func(more ...string) *Corpus {
		t.Helper()
		c, err := OpenCorpus(t.Context(), load(t, append(settings[:len(settings):len(settings)], more...)...))
		return closeCorpus(t, c, err)
	}
	first := open()
	if first.Index.Docs != 500 || len(first.sums) != 500 || filepath.Dir(first.Index.Dir) != cache {
		t.Fatalf("%d documents, %d checksums in %s", first.Index.Docs, len(first.sums), first.Index.Dir)
	}
	id := first.segments[0].ID
	same := func(c *Corpus) bool { return c.segments[0].ID == id && slices.Equal(c.sums, first.sums) }
	if c := open(); !same(c) {
		t.Error("it was built twice")
	}
	if c := open("READBENCH_SEED=2"); c.Index.Dir == first.Index.Dir || slices.Equal(c.sums, first.sums) {
		t.Error("another seed gives the same documents")
	}
	if c := open("READBENCH_DOCS=600"); c.Index.Docs != 600 {
		t.Errorf("%d documents, want 600", c.Index.Docs)
	}
	for name, damage := range map[string]func(p []byte) []byte{
		sumsFile:          func(p []byte) []byte { p[200] ^= 1; return p },
		"_0.fdx":          func(p []byte) []byte { p[60] ^= 1; return p },
		"_0.fdt":          func(p []byte) []byte { return p[:len(p)-1] },
		"segments_1":      func([]byte) []byte { return nil },
		"./" + sumsFile:   func(p []byte) []byte { return bytes.Replace(p, []byte("version 1"), []byte("version 0"), 1) },
		".//" + sumsFile:  func(p []byte) []byte { return p[:len(p)-4] },
		"././" + "_0.fdm": func([]byte) []byte { return nil },
	} {
		path := filepath.Join(first.Index.Dir, name)
		p, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, damage(p), 0o644); err != nil {
			t.Fatal(err)
		}
		c := open()
		if c.segments[0].ID == id || !slices.Equal(c.sums, first.sums) {
			t.Errorf("%s is damaged: it is not built anew with the same documents", name)
		}
		id = c.segments[0].ID
	}
	left, err := filepath.Glob(filepath.Join(cache, "*.part"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// Several that want the same index at once build it once; one that was interrupted leaves nothing, and what a process that
// died has left is no obstacle.
func TestBuildTogetherAndInterrupted(t *testing.T) {
	cache := userCache(t)
	c := load(t, "READBENCH_DOCS=3000")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := OpenCorpus(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := os.MkdirAll(filepath.Join(cache, newSpec(c).String()+".part", "segments_1"), 0o755); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	got := make([]*Corpus, 3)
	for i := range got {
		wg.Go(func() {
			corpus, err := OpenCorpus(t.Context(), c)
			if err != nil {
				t.Error(err)
			}
			got[i] = corpus
		})
	}
	wg.Wait()
	for _, g := range got[1:] {
		if g == nil || got[0] == nil || g.segments[0].ID != got[0].segments[0].ID {
			t.Fatal("it was built more than once")
		}
	}
}

// What is built does not depend on how many build it, all of it can be read, and json compresses while random does not.
func TestBuiltDocuments(t *testing.T) {
	for _, s := range []spec{
		{docs: 1, size: 0, text: config.DocTextRandom, seed: 1},
		{docs: 1500, size: 0, text: config.DocTextJSON, seed: 1},
		{docs: 2100, size: 1, text: config.DocTextRandom, seed: 1},
		{docs: 700, size: 4096, text: config.DocTextRandom, seed: 7},
		{docs: 700, size: 4096, text: config.DocTextJSON, seed: 7},
		{docs: 3, size: 81920, text: config.DocTextJSON, seed: 1},
		{docs: 3, size: 1 << 20, text: config.DocTextRandom, seed: 1},
	} {
		t.Run(s.String(), func(t *testing.T) {
			c := builtCorpus(t, s)
			procs := runtime.GOMAXPROCS(7)
			other := builtCorpus(t, s)
			runtime.GOMAXPROCS(procs)
			sums, err := takeSums(t.Context(), c)
			if err != nil || !slices.Equal(sums, c.sums) || !slices.Equal(sums, other.sums) {
				t.Errorf("%d documents are not what was written: %v", len(sums), err)
			}
			if c.Index.Docs != int64(s.docs) || c.chunks != other.chunks || c.segments[0].DataSize != other.segments[0].DataSize {
				t.Errorf("%d documents in %d chunks of %d bytes, and %d chunks of %d bytes", c.Index.Docs, c.chunks, c.segments[0].DataSize,
					other.chunks, other.segments[0].DataSize)
			}
			raw, packed := int64(s.docs*s.size), c.segments[0].DataSize
			if s.size >= 4096 && (s.text == config.DocTextJSON) != (packed < raw/2) || packed > raw+raw/50+10000 {
				t.Errorf("%d bytes of %s documents take %d", raw, s.text, packed)
			}
		})
	}
}

// An index of one's own that is none, or is damaged, is refused by name; its documents have checksums only if one asks.
func TestOwnIndex(t *testing.T) {
	golden := filepath.Join("lucene", "testdata", "10.6", "segments")
	c, err := OpenCorpus(t.Context(), load(t, "READBENCH_LUCENE_INDEX="+golden))
	closeCorpus(t, c, err)
	if c.sums != nil || len(c.Files) != 4 {
		t.Errorf("%d checksums, %d files", len(c.sums), len(c.Files))
	}
	c, err = OpenCorpus(t.Context(), load(t, "READBENCH_LUCENE_INDEX="+golden, "READBENCH_VERIFY=full"))
	closeCorpus(t, c, err)
	if int64(len(c.sums)) != c.Index.Docs {
		t.Errorf("%d checksums of %d documents", len(c.sums), c.Index.Docs)
	}
	empty := t.TempDir()
	if _, err := OpenCorpus(t.Context(), load(t, "READBENCH_LUCENE_INDEX="+empty)); err == nil || !bytes.Contains([]byte(err.Error()), []byte(empty)) {
		t.Errorf("%v, want one that names %s", err, empty)
	}
}
