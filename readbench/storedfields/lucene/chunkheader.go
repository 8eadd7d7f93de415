package lucene

import "slices"

// maxRatio is more than LZ4 (255) and DEFLATE (1032) can expand a byte to: raw lengths that exceed it cannot be true,
// and nothing is allocated for them.
const (
	maxRatioLZ4     = 256
	maxRatioDeflate = 1100
	ratioSlack      = 64 // raw bytes that may come on top, for chunks of a few bytes
)

// chunkHeader is what stands before the data of a chunk.
type chunkHeader struct {
	size   int     // bytes
	sliced bool    // the data are runs of chunkSize raw bytes each
	counts []int32 // fields of each document
	starts []int32 // raw offset of each document, then the raw length of all
}

// parse reads the header of chunk k from p, the first bytes of the chunk. If p is too short it returns false; of a
// whole chunk that is an error. It reuses the memory of h.
func (h *chunkHeader) parse(s *Segment, k Chunk, p []byte) (bool, error) {
	c := cursor{p: p, order: s.layout.order}
	bad := func(format string, args ...any) (bool, error) {
		e := corrupt(s.name, k.Offset-s.dataOff+int64(c.at), format, args...)
		e.Chunk = k.Index
		return false, e
	}
	short := func() (bool, error) {
		if int64(len(p)) < k.Length {
			return false, nil
		}
		return bad("the chunk of %d bytes ends in its header, or a number in it has too many bytes", k.Length)
	}
	base, token := c.vInt(), c.vInt()
	if !c.ok() {
		return short()
	}
	h.sliced = token&1 != 0
	docs := token >> 1
	if s.layout.dirtyBit {
		docs >>= 1
	}
	if base != k.DocBase || docs != k.Docs {
		return bad("the chunk says documents %d to %d, the index %d to %d", base, base+docs, k.DocBase, k.DocBase+k.Docs)
	}
	// k.Docs is at most maxChunkDocs, so this is bounded.
	h.counts = slices.Grow(h.counts[:0], docs)[:docs]
	h.starts = slices.Grow(h.starts[:0], docs+1)[:docs+1]
	if ok := readInts(&c, s.layout.old, h.counts) && readInts(&c, s.layout.old, h.starts[1:]); !ok {
		if c.ok() {
			return bad("an unknown packing of the documents' fields or lengths")
		}
		return short()
	}
	h.starts[0] = 0
	ratio := int64(maxRatioLZ4)
	if s.Mode == BestCompression {
		ratio = maxRatioDeflate
	}
	limit := min(int64(1<<31-1), ratio*(k.Length-int64(c.at))+ratioSlack)
	var sum int64
	signs := int32(0)
	for i, n := range h.starts[1:] {
		sum += int64(n)
		signs |= n | h.counts[i]
		h.starts[i+1] = int32(sum)
	}
	if sum > limit || signs < 0 {
		return bad("a document has a negative number of fields or bytes, or all have %d bytes; %d bytes can hold at most %d", sum,
			k.Length-int64(c.at), limit)
	}
	h.size = c.at
	return true, nil
}
