package storedfields

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/storedfields/lucene"
)

// version changes with anything that changes what is built from the same parameters.
const version = 1

// spec is what a built index is made from.
type spec struct {
	docs int
	size int // bytes of a document's one field, body
	text config.DocText
	seed uint64
}

func newSpec(c *config.Config) spec {
	s := spec{docs: c.Docs, size: int(c.DocSize), text: c.DocText, seed: c.Seed}
	if s.docs == 0 {
		const most = 1 << 24 // of small ones
		s.docs = min(most, max(1, int(config.DefaultSize)/max(s.size, 1)))
	}
	return s
}

// String names the index; it is a file name, too.
func (s spec) String() string {
	return fmt.Sprintf("lucene-%d-docs-of-%s-%s-seed%d", s.docs, config.Size(s.size), s.text, s.seed)
}

// title is the first line of its file of checksums.
func (s spec) title() string {
	return fmt.Sprintf("readbench stored fields, version %d: %v", version, s)
}

const sumsFile = "documents.crc32c"

// openBuilt opens the index in the user's cache directory that c describes, beside the data files of the other workloads. It
// is built if it is not there, or not whole, or was built by another version.
func openBuilt(ctx context.Context, c *config.Config) (*Corpus, error) {
	s := newSpec(c)
	file, err := config.DefaultFile(config.DefaultSize, c.Seed)
	if err != nil {
		return nil, fmt.Errorf("%w; or set %sLUCENE_INDEX", err, config.EnvPrefix)
	}
	dir := filepath.Join(filepath.Dir(file), s.String())
	corpus, err := s.open(dir, c.LuceneCheck)
	if err == nil {
		return corpus, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("making a directory for the index: %w; set %sLUCENE_INDEX", err, config.EnvPrefix)
	}
	if err := s.build(ctx, dir, c.LuceneCheck); errors.Is(err, syscall.ENOSPC) {
		return nil, c.Blame(fmt.Errorf("building the index %s: %w", dir, err), "DOCS", "DOC_SIZE")
	} else if err != nil {
		return nil, fmt.Errorf("building the index %s: %w", dir, err)
	}
	return s.open(dir, c.LuceneCheck)
}

// open opens what was built in dir, if it is what s describes.
func (s spec) open(dir string, check config.LuceneCheck) (*Corpus, error) {
	sums, err := readSums(filepath.Join(dir, sumsFile), s.title(), int64(s.docs))
	if err != nil {
		return nil, err
	}
	c, err := openIndex(dir, check)
	if err != nil {
		return nil, err
	}
	if c.Index.Docs != int64(s.docs) {
		return nil, fmt.Errorf("%s: %d documents, expected %d", dir, c.Index.Docs, s.docs)
	}
	c.sums = sums
	c.origin = fmt.Sprintf("built: %d documents of %s, %s", s.docs, config.Size(s.size), s.text)
	return c, nil
}

// build builds the index in DIR.part and gives it its name when it is whole. One process at a time builds, as a lock on the
// directory around it sees to; who waited for the lock finds the index there. What a process that died has left is
// replaced.
func (s spec) build(ctx context.Context, dir string, check config.LuceneCheck) (err error) {
	defer notice.Slow("building an index of stored fields, %s", dir)()
	around, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, around.Close()) }() // also unlocks
	if err := filelock.Wait(ctx, around, filelock.Exclusive); err != nil {
		return fmt.Errorf("waiting for the process that builds another: %w", err)
	}
	if _, err := s.open(dir, check); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		notice.Printf("%v: the index is built anew", err)
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := s.write(ctx, part); err != nil {
		return errors.Join(err, os.RemoveAll(part))
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Rename(part, dir); err != nil {
		return err
	}
	return around.Sync()
}

// write writes an index and the checksums of its documents. Chunks are made in parallel, some at a time, and written in
// order.
func (s spec) write(ctx context.Context, dir string) error {
	w, err := lucene.Create(dir, "body")
	if err != nil {
		return err
	}
	perChunk := s.docsPerChunk()
	const each = 16 // chunks that a maker makes at a time
	makers := make([]maker, runtime.GOMAXPROCS(0))
	for i := range makers {
		makers[i] = maker{spec: s, content: content{seed: s.seed, text: s.text}, body: make([]byte, s.size), chunks: make([][]byte, each)}
	}
	sums := make([]uint32, s.docs)
	for next := 0; next < s.docs; {
		var wg sync.WaitGroup
		for i := range makers {
			m := &makers[i]
			m.chunks = m.chunks[:0]
			from := next
			for len(m.chunks) < each && next < s.docs {
				m.chunks = m.chunks[:len(m.chunks)+1]
				next = min(s.docs, next+perChunk)
			}
			wg.Go(func() { m.err = m.make(from, perChunk, sums) })
		}
		wg.Wait()
		for i := range makers {
			err := makers[i].err
			for _, chunk := range makers[i].chunks {
				if err == nil {
					err = w.WriteChunk(chunk)
				}
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return errors.Join(err, w.Abort())
			}
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return writeSums(filepath.Join(dir, sumsFile), s.title(), sums)
}

// docsPerChunk is how many documents there are in a chunk: all have as many bytes.
func (s spec) docsPerChunk() int {
	raw := len(lucene.AppendField(nil, lucene.Field{Kind: lucene.Bytes, Bytes: make([]byte, s.size)}))
	return min(lucene.MaxChunkDocs, (lucene.ChunkSize-1)/raw+1)
}

// maker makes chunks.
type maker struct {
	spec
	content content
	builder lucene.ChunkBuilder
	body    []byte
	doc     []byte
	chunks  [][]byte // whose memory is used again
	err     error
}

// make fills chunks with documents from a number on.
func (m *maker) make(from, perChunk int, sums []uint32) error {
	for i := range m.chunks {
		base := from
		for ; from < min(m.docs, base+perChunk); from++ {
			m.content.fill(m.body, from)
			m.doc = lucene.AppendField(m.doc[:0], lucene.Field{Kind: lucene.Bytes, Bytes: m.body})
			sums[from] = sum(m.doc)
			if err := m.builder.Add(m.doc, 1); err != nil {
				return err
			}
		}
		m.chunks[i] = m.builder.AppendChunk(m.chunks[i][:0], base)
	}
	return nil
}
