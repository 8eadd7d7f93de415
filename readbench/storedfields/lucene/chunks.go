package lucene

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// maxChunkDocs is far above the documents that the library puts in one chunk (1024 with LZ4, 4096 with DEFLATE); it
// bounds what a damaged index can make a Decoder allocate.
const maxChunkDocs = 1 << 16

// minChunkBytes is less than any chunk takes: first document, token, fields, lengths, a byte each.
const minChunkBytes = 4

// layout is what differs between the releases in .fdx and .fdt.
type layout struct {
	order     binary.ByteOrder
	old       bool // 8.x: numbers big-endian, packed values most significant bit first, lengths packed bit by bit
	dirtyBit  bool // the token has the dirty bit
	chunkSize int  // bytes of raw data at which a chunk is closed, and of a slice
}

// A Chunk says where a chunk of documents lies.
type Chunk struct {
	Index   int   // in its segment
	DocBase int   // its first document, counted in its segment
	Docs    int   // documents in it, at least 1
	Offset  int64 // bytes from the start of Segment.DataFile (not of a file inside a compound one)
	Length  int64 // bytes, at least 1
}

// Chunks returns the number of chunks of the segment.
func (s *Segment) Chunks() int { return len(s.bases) - 1 }

// ChunkAt returns the chunk with that index, 0 ≤ i < Chunks(). It panics if there is none, as an index out of range.
func (s *Segment) ChunkAt(i int) Chunk {
	return Chunk{Index: i, DocBase: int(s.bases[i]), Docs: int(s.bases[i+1] - s.bases[i]),
		Offset: s.dataOff + s.pointers[i], Length: s.pointers[i+1] - s.pointers[i]}
}

// Chunk returns the chunk that holds a document, 0 ≤ doc < Docs, without any read.
func (s *Segment) Chunk(doc int) (Chunk, error) {
	if doc < 0 || doc >= s.Docs {
		return Chunk{}, fmt.Errorf("%s: document %d of %d", s.name, doc, s.Docs)
	}
	// The last chunk whose first document is not behind doc: at or beside where it would be if all chunks had as many
	// documents, or by bisection.
	lo, hi := 0, len(s.bases)-1
	if guess := int(int64(doc) * int64(hi) / int64(s.Docs)); int(s.bases[guess]) <= doc {
		lo = guess
		if guess+4 < hi && int(s.bases[guess+4]) > doc {
			hi = guess + 4
		}
	} else {
		hi = guess
		if guess > 4 && int(s.bases[guess-4]) <= doc {
			lo = guess - 4
		}
	}
	for hi-lo > 1 {
		mid := int(uint(lo+hi) / 2)
		if int(s.bases[mid]) <= doc {
			lo = mid
		} else {
			hi = mid
		}
	}
	return s.ChunkAt(lo), nil
}

// headGuess is how many bytes the header of a chunk and the numbers in front of its first run take, as a rule: a byte for its
// fields and two for its length a document, and the lengths of the parts.
func (s *Segment) headGuess(k Chunk) int { return 64 + 3*k.Docs }

// DictionaryEnd returns where in DataFile the dictionary of a chunk ends at about: what a Decoder reads to get over header
// and dictionary in one go, and what is to be hinted before a header is known. It is a guess, and inside the chunk.
func (s *Segment) DictionaryEnd(k Chunk) int64 {
	raw := s.layout.chunkSize / dictShare
	dict := int64(raw + raw/255 + 16)      // as one that does not compress
	dict = min(dict, k.Length*2/dictShare) // if all compresses, so does it, though not as well
	return k.Offset + min(k.Length, int64(s.headGuess(k))+dict)
}

// LongestWant returns how many bytes a Decoder wants of the segment at a time, at the most. It never wants more than a chunk
// has, and of chunks that are much longer than others (sliced ones, of long documents) one slice.
func (s *Segment) LongestWant() int {
	longest, docs := int64(0), 0
	for i := range s.Chunks() {
		k := s.ChunkAt(i)
		longest, docs = max(longest, k.Length), max(docs, k.Docs)
	}
	// All parts of a run that is not sliced, if nothing compresses; or a header with numbers of 5 bytes.
	run := 2 * s.layout.chunkSize
	return int(min(longest, int64(max(run+run/128+4096, s.headGuess(Chunk{Docs: 4 * docs})))))
}

// openChunks reads .fdm and .fdx and checks the ends of .fdt.
func (s *Segment) openChunks(find func(string) (part, error), check Check) error {
	data, err := find(".fdt")
	if err != nil {
		return err
	}
	s.DataFile, s.DataSize, s.name, s.dataOff = data.path, data.size, data.name, data.off
	h, err := data.ends(check == CheckFull,
		codec{"Lucene90StoredFieldsFastData", 1, 1}, codec{"Lucene90StoredFieldsHighData", 1, 1},
		codec{"Lucene87StoredFieldsFastData", 3, 4}, codec{"Lucene87StoredFieldsHighData", 3, 4})
	if err != nil {
		return err
	}
	if err := h.sameSegment(data.name, s.ID); err != nil {
		return err
	}
	metaCodec, indexCodec := codec{"Lucene90FieldsIndexMeta", 1, 1}, codec{"Lucene90FieldsIndexIdx", 0, 0}
	s.layout = layout{order: binary.LittleEndian, dirtyBit: true}
	switch h.codec {
	case "Lucene87StoredFieldsFastData", "Lucene87StoredFieldsHighData":
		metaCodec, indexCodec = codec{"Lucene85FieldsIndexMeta", h.version, h.version}, codec{"Lucene85FieldsIndexIdx", 0, 0}
		s.layout = layout{order: binary.BigEndian, old: true, dirtyBit: h.version >= 4}
	}
	if h.codec == "Lucene90StoredFieldsHighData" || h.codec == "Lucene87StoredFieldsHighData" {
		s.Mode = BestCompression
	}

	index, err := find(".fdx")
	if err != nil {
		return err
	}
	ih, packed, err := index.load(indexCodec)
	if err != nil {
		return err
	}
	if err := ih.sameSegment(index.name, s.ID); err != nil {
		return err
	}
	meta, err := find(".fdm")
	if err != nil {
		return err
	}
	mh, body, err := meta.load(metaCodec)
	if err != nil {
		return err
	}
	if err := mh.sameSegment(meta.name, s.ID); err != nil {
		return err
	}
	m := monotonics{meta: meta.name, metaOff: mh.size, index: index.name, packed: packed, packedOff: int64(ih.size),
		old: s.layout.old, c: cursor{p: body, order: s.layout.order}}
	return s.readChunks(&m, int64(h.size))
}

// readChunks fills in bases and pointers; data is the offset of the first chunk.
func (s *Segment) readChunks(m *monotonics, data int64) error {
	c := &m.c
	s.layout.chunkSize = c.vInt()
	if s.layout.old {
		if v := c.vInt(); c.ok() && v != 2 {
			return unknown(m.meta, "packed values version %d, expected 2", v)
		}
	}
	docs, shift, n := int(int32(c.u32())), int(int32(c.u32())), int(int32(c.u32()))
	if !c.ok() || s.layout.chunkSize < 1 {
		return m.bad("cut off, or a chunk size of %d bytes", s.layout.chunkSize)
	}
	if docs != s.Docs {
		return m.bad("%d documents, the segment has %d", docs, s.Docs)
	}
	if shift < 2 || shift > 22 {
		return m.bad("2^%d values in an entry, expected 2^2 to 2^22", shift)
	}
	// Every chunk has a document, and bytes in .fdt: a count that does not fit is caught before anything is made.
	if n < 1 || n-1 > s.Docs || int64(n-1) > s.DataSize/minChunkBytes {
		return m.bad("%d chunks do not fit %d documents in %d bytes", n-1, s.Docs, s.DataSize)
	}
	bases, err := m.values(n, shift)
	if err != nil {
		return err
	}
	if s.pointers, err = m.values(n, shift); err != nil {
		return err
	}
	if e := int64(c.u64()); c.ok() && e != m.packedOff+int64(len(m.packed)) {
		return m.bad("the values end at %d, in %s at %d", e, m.index, m.packedOff+int64(len(m.packed)))
	}
	end := int64(c.u64())
	if !c.ok() || end != s.DataSize-footerSize {
		return m.bad("the data end at %d, the file of the data has %d bytes and a footer of %d", end, s.DataSize, footerSize)
	}
	if s.layout.dirtyBit {
		c.uvar(10) // chunks, which 8.7 and 8.8 leave out
	}
	c.uvar(10) // dirty chunks
	c.uvar(10) // dirty documents
	if !c.ok() || c.at != len(c.p) {
		return m.bad("its numbers end here, the file at %d", m.metaOff+len(c.p))
	}
	s.bases = make([]int32, n)
	for i, v := range bases {
		if v < 0 || v > int64(s.Docs) || i > 0 && (v <= bases[i-1] || v > bases[i-1]+maxChunkDocs) {
			return corrupt(m.index, -1, "chunk %d starts at document %d of %d, the one before it at %d",
				i, v, s.Docs, bases[max(i-1, 0)])
		}
		s.bases[i] = int32(v)
	}
	for i, v := range s.pointers {
		if v > end || i > 0 && v < s.pointers[i-1]+minChunkBytes {
			return corrupt(m.index, -1, "chunk %d is at offset %d of %d, the one before it at %d",
				i, v, end, s.pointers[max(i-1, 0)])
		}
	}
	if bases[0] != 0 || bases[n-1] != int64(s.Docs) || s.pointers[0] != data || s.pointers[n-1] != end {
		return corrupt(m.index, -1, "documents %d to %d at %d to %d, expected 0 to %d at %d to %d",
			bases[0], bases[n-1], s.pointers[0], s.pointers[n-1], s.Docs, data, end)
	}
	return nil
}

// monotonics reads the monotonic arrays: their metadata from .fdm, their packed values from .fdx.
type monotonics struct {
	meta, index string // files, for errors
	c           cursor // in .fdm
	metaOff     int
	packed      []byte
	packedOff   int64 // of packed in .fdx
	old         bool
}

func (m *monotonics) bad(format string, args ...any) error {
	return corrupt(m.meta, int64(m.metaOff+m.c.at), format, args...)
}

var packedWidths = []int{0, 1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64}

// values reads one array of n values, 2^shift of them under one entry. The caller has bounded n.
func (m *monotonics) values(n, shift int) ([]int64, error) {
	start := int64(m.c.u64())
	out := make([]int64, 0, n)
	for len(out) < n {
		low := int64(m.c.u64())
		avg := math.Float32frombits(m.c.u32())
		off := int64(m.c.u64())
		width := int(m.c.u8())
		count := min(n-len(out), 1<<shift)
		if !m.c.ok() {
			return nil, m.bad("cut off in an entry")
		}
		if !slices.Contains(packedWidths, width) {
			return nil, m.bad("%d bits a value, expected one of %v", width, packedWidths)
		}
		from := start + off - m.packedOff
		size := (int64(count)*int64(width) + 7) / 8
		if start < 0 || off < 0 || from < 0 && width > 0 || width > 0 && from > int64(len(m.packed))-size {
			return nil, m.bad("%d bytes of values at %d+%d do not lie in %s", size, start, off, m.index)
		}
		var p []byte
		if width > 0 {
			p = m.packed[from : from+size]
		}
		for i := range count {
			// In float32, as the writer has it; the conversion keeps the product from being fused with the sum.
			line := int64(float32(avg * float32(i)))
			out = append(out, low+line+int64(packedValue(p, i, width, m.old)))
		}
	}
	return out, nil
}

// packedValue returns value i of width bits: low bits first, or in the old layout high bits first. It reads bit by
// byte: this runs once per chunk, at open.
func packedValue(p []byte, i, width int, old bool) uint64 {
	var v uint64
	bit := i * width
	for got := 0; got < width; {
		b, in := uint64(p[bit/8]), bit%8
		take := min(8-in, width-got)
		mask := uint64(1)<<take - 1
		if old {
			v = v<<take | b>>(8-in-take)&mask
		} else {
			v |= b >> in & mask << got
		}
		got += take
		bit += take
	}
	return v
}
