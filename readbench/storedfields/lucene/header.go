package lucene

// A Header is what a Decoder knows of one chunk: the header that stands before the chunk's data, and the places of the
// parts of the run that was looked at last. The zero Header is that of no chunk. It belongs to a Decoder while that is at
// work with it (StartIn, Peek), and is not safe for concurrent use.
type Header struct {
	seg    *Segment
	chunk  Chunk
	parsed bool // header is that of chunk
	header chunkHeader
	run    run // valid if parsed
}

// Chunk returns where the chunk lies: whoever reads chunks as a whole feeds all of it at once.
func (h *Header) Chunk() Chunk { return h.chunk }

// A Span is n bytes of Segment.DataFile at an offset.
type Span struct {
	Off int64
	N   int
}

// MaxSpans is how many spans a document has at the most.
const MaxSpans = 2

// Spans appends the parts of DataFile that decoding a document of the chunk takes beside the header: its dictionary and
// its sub-blocks, as far as a Decoder with this header would want them. It appends nothing for an empty document, or
// if the header has not been read (see Decoder.Peek). Where the parts lie is not in one place for a document that lies
// in several runs of a sliced chunk, or for DEFLATE: there the last span goes on to the chunk's end.
func (h *Header) Spans(dst []Span, doc int) []Span {
	i := doc - h.chunk.DocBase
	if !h.parsed || i < 0 || i >= h.chunk.Docs || h.header.starts[i] == h.header.starts[i+1] {
		return dst
	}
	from, to := int(h.header.starts[i]), int(h.header.starts[i+1])
	r := &h.run
	end := int(h.chunk.Length)
	if r.head == 0 || from < r.rawBase || from >= r.rawBase+r.raw || h.seg.Mode != BestSpeed {
		return h.span(dst, h.header.size, end)
	}
	first, last := max(1, r.partOf(from)), r.partOf(min(to, r.rawBase+r.raw)-1)
	if to <= r.rawBase+r.raw { // else the next run follows, and the document goes on in it
		_, n := r.needed(last, to, h.seg.Mode)
		end = r.off[last] + n
	}
	if last == 0 || first == 1 {
		return h.span(dst, r.off[0], end)
	}
	return h.span(h.span(dst, r.off[0], r.off[0]+r.len[0]), r.off[first], end)
}

func (h *Header) span(dst []Span, from, to int) []Span {
	return append(dst, Span{h.chunk.Offset + int64(from), to - from})
}

// startRun makes run i, which starts at pos, the current one.
func (h *Header) startRun(i, pos int) {
	total := int(h.header.starts[h.chunk.Docs])
	r := &h.run
	r.index, r.pos, r.head, r.known, r.rawBase, r.raw = i, pos, 0, 0, 0, total
	if h.header.sliced {
		r.rawBase = i * h.seg.layout.chunkSize
		r.raw = min(h.seg.layout.chunkSize, total-r.rawBase)
	}
}

// current is Header under the name by which a Decoder embeds the one at work.
type current = Header
