package lucene

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/readbench/suite/internal/userfile"
)

// An Index is the stored fields of one commit of an index directory. It holds no open file. It is never changed after
// Open and safe for concurrent use.
type Index struct {
	Dir        string
	Generation int64      // of the commit: N of segments_N, which counts in base 36
	Segments   []*Segment // in the commit's order
	Docs       int64      // of all segments, deleted documents included
}

// codecs lists the codecs of whole segments that keep stored fields in a layout that this package knows.
var codecs = []string{"Lucene87", "Lucene90", "Lucene91", "Lucene92", "Lucene94", "Lucene95", "Lucene99", "Lucene912",
	"Lucene100", "Lucene101", "Lucene103", "Lucene104"}

// Open reads the newest commit of an index directory and the indexes of its stored fields, about 12 bytes of memory
// per chunk. Errors wrap ErrCorrupt or ErrUnknownFormat where the contents are to blame.
func Open(dir string, check Check) (*Index, error) {
	name, gen, err := newest(dir)
	if err != nil {
		return nil, err
	}
	x := &Index{Dir: dir, Generation: gen}
	commit, err := open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	h, body, err := commit.load(codec{"segments", 9, 11})
	if err != nil {
		return nil, err
	}
	if want := strings.TrimPrefix(name, "segments_"); h.suffix != want {
		return nil, corrupt(commit.name, 0, "its header is that of segments_%s", h.suffix)
	}
	if x.Segments, err = parseCommit(commit.name, h, body); err != nil {
		return nil, err
	}
	for _, s := range x.Segments {
		s.DocBase = x.Docs
		if err := s.open(dir, check); err != nil {
			return nil, fmt.Errorf("segment %s: %w", s.Name, err)
		}
		x.Docs += int64(s.Docs)
	}
	return x, nil
}

// newest returns the name and generation of the newest segments file of a directory.
func newest(dir string) (string, int64, error) {
	entries, err := userfile.Within(context.Background(), "looking into "+dir, func() ([]os.DirEntry, error) { return os.ReadDir(dir) }, nil)
	if err != nil {
		return "", 0, err
	}
	best, gen := "", int64(-1)
	for _, e := range entries {
		suffix, found := strings.CutPrefix(e.Name(), "segments_")
		if !found {
			continue
		}
		if n, err := strconv.ParseInt(suffix, 36, 64); err == nil && n > gen {
			best, gen = e.Name(), n
		}
	}
	if best == "" {
		return "", 0, fmt.Errorf("%s: no segments_N file: not an index directory, or an index without a commit", dir)
	}
	return best, gen, nil
}

// parseCommit reads the list of segments from the body of a segments file. All numbers in it are big-endian.
func parseCommit(file string, h header, body []byte) ([]*Segment, error) {
	c := cursor{p: body, order: binary.BigEndian}
	version := func() { c.vInt(); c.vInt(); c.vInt() }
	version()  // of the library
	c.vInt()   // major version that made the index
	c.u64()    // how often the index was changed
	c.uvar(10) // the next segment's number
	n := int(int32(c.u32()))
	// A segment takes more than 60 bytes, so a count that the body cannot hold is caught before anything is made.
	if !c.ok() || n < 0 || n > len(body)/60 {
		return nil, corrupt(file, int64(h.size+c.at), "%d segments do not fit into %d bytes", n, len(body))
	}
	if n > 0 {
		version() // the oldest segment's
	}
	segments := make([]*Segment, 0, n)
	for range n {
		at := int64(h.size + c.at)
		s := &Segment{Name: c.str()}
		copy(s.ID[:], c.take(16))
		s.Codec = c.str()
		c.u64() // generation of the deletions
		s.Deleted = int(int32(c.u32()))
		c.take(8 + 8) // generations of field names and of values
		c.u32()       // soft deletions
		if h.version >= 10 {
			switch c.u8() {
			case 0:
			case 1:
				c.take(16)
			default:
				c.failed = true
			}
		}
		c.skipStrings(c.vInt()) // files of field names
		for k := int(int32(c.u32())); k > 0 && c.ok(); k-- {
			c.u32()
			c.skipStrings(c.vInt())
		}
		if h.version >= 11 {
			// Always 0 in the files known; anything else would be read wrongly from here on.
			if v := c.u32(); v != 0 && c.ok() {
				return nil, unknown(file, "segment %s: number %d after the files of values, expected 0", s.Name, v)
			}
		}
		if !c.ok() || s.Name == "" || filepath.Base(s.Name) != s.Name || s.Deleted < 0 {
			return nil, corrupt(file, at, "the entry of segment %q cannot be read", s.Name)
		}
		segments = append(segments, s)
	}
	c.skipStrings(2 * c.vInt()) // what the user attached
	if !c.ok() || c.at != len(body) {
		return nil, corrupt(file, int64(h.size+c.at), "the list of segments ends here, the file at %d", h.size+len(body))
	}
	return segments, nil
}

// open reads everything of a segment but its data.
func (s *Segment) open(dir string, check Check) error {
	known := false
	for _, k := range codecs {
		known = known || k == s.Codec
	}
	if !known {
		return unknown(filepath.Join(dir, s.Name+".si"), "codec %q, expected one of %s", s.Codec, strings.Join(codecs, ", "))
	}
	si, err := open(filepath.Join(dir, s.Name+".si"))
	if err != nil {
		return err
	}
	h, body, err := si.load(codec{"Lucene90SegmentInfo", 0, 0}, codec{"Lucene86SegmentInfo", 0, 0})
	if err != nil {
		return err
	}
	if err := h.sameSegment(si.name, s.ID); err != nil {
		return err
	}
	c := cursor{p: body, order: binary.LittleEndian}
	if h.codec == "Lucene86SegmentInfo" {
		c.order = binary.BigEndian
	}
	c.take(12) // the library's version
	if c.u8() == 1 {
		c.take(12) // the oldest version in the segment
	}
	s.Docs = int(int32(c.u32()))
	compound := c.u8()
	if !c.ok() || s.Docs < 0 || s.Deleted > s.Docs || compound != 1 && compound != 0xff {
		return corrupt(si.name, int64(h.size), "%d documents, %d of them deleted, compound flag %d", s.Docs, s.Deleted, compound)
	}
	find := func(ext string) (part, error) { return open(filepath.Join(dir, s.Name+ext)) }
	if compound == 1 {
		if find, err = openCompound(dir, s); err != nil {
			return err
		}
	}
	if err := s.openFields(find); err != nil {
		return err
	}
	return s.openChunks(find, check)
}
