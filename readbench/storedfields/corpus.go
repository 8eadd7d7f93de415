package storedfields

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/storedfields/lucene"
)

// A Corpus is the documents of an index and the files that hold them. It is never changed once it is open, and safe for
// concurrent use.
type Corpus struct {
	Index *lucene.Index
	Files []string // paths of those of the segments that have documents

	segments []segment
	chunks   int64
	longest  int      // bytes of the longest read
	sums     []uint32 // of each document, or nil if there are none to compare with
	origin   string   // where the documents come from, for configuration lines
}

// segment is a segment that has documents.
type segment struct {
	*lucene.Segment
	file      int   // in Corpus.Files
	chunkBase int64 // chunks of all segments before this one
}

// place says where a document lies.
type place struct {
	doc   int64 // its number in the index
	seg   *segment
	chunk lucene.Chunk
}

// local is the document's number in its segment.
func (p *place) local() int { return int(p.doc - p.seg.DocBase) }

// id is the number of its chunk in the index.
func (p *place) id() int64 { return p.seg.chunkBase + int64(p.chunk.Index) }

// openIndex opens any index.
func openIndex(dir string, check config.LuceneCheck) (*Corpus, error) {
	degree := lucene.CheckEnds
	if check == config.LuceneCheckFull {
		degree = lucene.CheckFull
	}
	index, err := lucene.Open(dir, degree)
	if err != nil {
		return nil, err
	}
	c := &Corpus{Index: index}
	for _, s := range c.Index.Segments {
		if s.Docs == 0 {
			continue
		}
		c.segments = append(c.segments, segment{Segment: s, file: len(c.Files), chunkBase: c.chunks})
		c.Files = append(c.Files, s.DataFile)
		c.chunks += int64(s.Chunks())
		c.longest = max(c.longest, s.LongestWant()+os.Getpagesize()) // a read goes on to the end of its page
	}
	if len(c.segments) == 0 {
		return nil, fmt.Errorf("%s: the index has no documents", dir)
	}
	return c, nil
}

// Checked says how what is read is checked, for configuration lines.
func (c *Corpus) Checked() string {
	if c.sums == nil {
		return "structure only: documents decode and their fields parse (an index of one's own; READBENCH_VERIFY=full takes checksums first)"
	}
	return "crc32c of every document"
}

// locate finds a document, 0 ≤ doc < Index.Docs.
func (c *Corpus) locate(p *place, doc int64) error {
	s := &c.segments[0]
	if len(c.segments) > 1 {
		s = &c.segments[sort.Search(len(c.segments), func(i int) bool { return c.segments[i].DocBase > doc })-1]
	}
	var err error
	p.doc, p.seg = doc, s
	p.chunk, err = s.Chunk(p.local())
	return err
}

// locateIn finds the n-th document, modulo how many there are, of a chunk, 0 ≤ chunk < chunks.
func (c *Corpus) locateIn(p *place, chunk int64, n uint64) {
	s := &c.segments[0]
	if len(c.segments) > 1 {
		s = &c.segments[sort.Search(len(c.segments), func(i int) bool { return c.segments[i].chunkBase > chunk })-1]
	}
	p.seg, p.chunk = s, s.ChunkAt(int(chunk-s.chunkBase))
	p.doc = s.DocBase + int64(p.chunk.DocBase) + int64(n%uint64(p.chunk.Docs))
}

// shape says of what the index consists, for configuration lines.
func (c *Corpus) shape() string {
	modes := map[string]bool{}
	for _, s := range c.segments {
		modes[s.Mode.String()] = true
	}
	return fmt.Sprintf("%d documents, %d chunks, %d segments, %s", c.Index.Docs, c.chunks, len(c.segments),
		strings.Join(slices.Sorted(maps.Keys(modes)), " and "))
}
