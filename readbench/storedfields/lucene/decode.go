package lucene

// How a Decoder goes on, from stage to stage.

import "fmt"

// Start begins with a document, 0 ≤ doc < s.Docs. What the decoder handed out before is not valid any more.
func (d *Decoder) Start(s *Segment, doc int) error {
	if k := &d.own.chunk; d.own.parsed && d.own.seg == s && doc >= k.DocBase && doc < k.DocBase+k.Docs {
		return d.StartIn(&d.own, s, *k, doc)
	}
	k, err := s.Chunk(doc)
	if err != nil {
		return err
	}
	return d.StartIn(&d.own, s, k, doc)
}

// StartIn is Start with a chunk that the caller has looked up, and with a header that the caller keeps: if it is that of
// the chunk, it is not read again. Without one (nil) the decoder uses its own.
func (d *Decoder) StartIn(h *Header, s *Segment, k Chunk, doc int) error {
	d.peek = false
	return d.start(h, s, k, doc)
}

// Peek begins with reading the header of a document's chunk, and nothing of the document: once nothing is wanted any
// more, h.Spans tells which bytes the document takes. There is no Document then.
func (d *Decoder) Peek(h *Header, s *Segment, k Chunk, doc int) error {
	d.peek = true
	return d.start(h, s, k, doc)
}

func (d *Decoder) start(h *Header, s *Segment, k Chunk, doc int) error {
	if doc < k.DocBase || doc >= k.DocBase+k.Docs {
		return fmt.Errorf("%s: document %d is not in chunk %d, which has %d to %d", s.name, doc, k.Index, k.DocBase, k.DocBase+k.Docs-1)
	}
	if h == nil {
		h = &d.own
	}
	d.current = h
	if h.seg != s || h.chunk.Index != k.Index {
		h.seg, h.chunk, h.parsed = s, k, false
	}
	d.out, d.whole, d.work = nil, d.whole[:0], Work{}
	d.from = doc - k.DocBase
	if !d.parsed {
		d.stage = stageHeader
		d.guess = int(min(k.Length, int64(s.headGuess(k))))
		if !d.peek {
			d.guess = int(min(k.Length, s.DictionaryEnd(k)-k.Offset))
		}
		d.want()
		return nil
	}
	d.begin()
	d.want()
	return d.advance(0, nil)
}

// want sets what Want returns.
func (d *Decoder) want() {
	if d.peek && (d.stage == stagePlace || d.stage == stageParts) {
		d.stage = stageDone
	}
	end := int(d.chunk.Length)
	r := &d.run
	switch d.stage {
	case stageHeader:
		d.wantFrom, d.wantTo = 0, d.guess
	case stageRun:
		d.wantFrom, d.wantTo = r.pos, min(end, r.pos+d.guess)
	case stagePlace:
		d.wantFrom, d.wantTo = r.next, min(end, r.next+5)
	case stageParts:
		// The dictionary alone if there is something between it and the first sub-block that is touched.
		to := d.part
		if d.seg.Mode == BestSpeed && (d.part > 0 || d.last > 0 && d.first == 1) {
			to = d.last
		}
		d.ends = to == d.last && d.to <= r.rawBase+r.raw
		d.wantFrom, d.wantTo = r.off[d.part], r.off[to]+d.packedLen(to)
	default:
		d.wantFrom, d.wantTo = 0, 0
	}
}

// Feed takes bytes of DataFile that start at off and cover what is wanted; it goes on as far as they reach. It keeps
// no reference to them.
func (d *Decoder) Feed(off int64, p []byte) error {
	low := off - d.chunk.Offset // of p, in the chunk
	if int64(d.wantFrom) < low || int64(d.wantTo) > low+int64(len(p)) {
		return fmt.Errorf("%s: fed %d bytes at %d, wanted %d at %d",
			d.seg.name, len(p), off, d.wantTo-d.wantFrom, d.chunk.Offset+int64(d.wantFrom))
	}
	return d.advance(low, p)
}

// advance goes on as far as p reaches, which starts at low in the chunk. Where nothing is wanted nothing need be
// there, so that Want's zero always means the end.
func (d *Decoder) advance(low int64, p []byte) error {
	for d.stage != stageDone {
		var have []byte
		if at := int64(d.wantFrom) - low; at >= 0 && at <= int64(len(p)) {
			have = p[at:]
			have = have[:min(int64(len(have)), d.chunk.Length-int64(d.wantFrom))]
		}
		if len(have) < d.wantTo-d.wantFrom {
			return nil
		}
		var err error
		if d.stage == stageParts {
			err = d.decodeParts(have)
		} else {
			err = d.step(have)
		}
		if err != nil {
			d.parsed = false // nothing of a damaged chunk is kept
			return err
		}
		d.want()
	}
	return nil
}

// step goes through one stage before the parts; have starts with the bytes wanted.
func (d *Decoder) step(have []byte) error {
	r := &d.run
	switch d.stage {
	case stageHeader:
		ok, err := d.header.parse(d.seg, d.chunk, have)
		if err != nil {
			return err
		}
		if !ok {
			d.guess = int(min(d.chunk.Length, 2*int64(len(have))))
			return nil
		}
		d.parsed = true
		d.work.Headers++
		d.work.Used += d.header.size
		d.startRun(0, d.header.size)
		d.begin()
	case stageRun:
		c := cursor{p: have}
		ok, problem := r.parseHead(&c, d.seg.Mode == BestSpeed, int(d.chunk.Length)-r.pos)
		if problem != "" {
			return d.bad(-1, r.pos, "%s: %d raw bytes", problem, r.raw)
		}
		if !ok {
			if len(have) == int(d.chunk.Length)-r.pos {
				return d.bad(-1, r.pos, "the chunk ends in the numbers in front of a run, or one has too many bytes")
			}
			d.guess = 2 * len(have)
			return nil
		}
		d.work.Used += r.head
		d.enterRun()
	case stagePlace:
		c := cursor{p: have}
		length := c.vInt()
		if !c.ok() || length > int(d.chunk.Length)-r.next-c.at {
			return d.bad(r.known, r.next, "a compressed length of %d bytes leads out of the chunk", length)
		}
		r.off[r.known], r.len[r.known] = r.next+c.at, length
		r.next += c.at + length
		r.known++
		d.work.Used += c.at
		d.placed()
	}
	return nil
}

// begin goes to the first run of the document whose index in the chunk is in from; the header is known.
func (d *Decoder) begin() {
	i := d.from
	d.from, d.to = int(d.header.starts[i]), int(d.header.starts[i+1])
	d.fields = int(d.header.counts[i])
	d.stage = stageDone
	if d.from == d.to {
		return
	}
	if d.from < d.run.rawBase {
		d.startRun(0, d.header.size)
	}
	d.enterRun()
}

// enterRun goes on with the current run: to its parts if it holds what is next of the document, else behind it.
func (d *Decoder) enterRun() {
	r := &d.run
	if r.head == 0 {
		d.stage = stageRun
		d.guess = 64
		return
	}
	if d.from >= r.rawBase+r.raw { // not in this run: its end must be known to pass it
		d.part, d.last = r.blocks+1, r.blocks
	} else {
		d.part = 0
		d.first = max(1, r.partOf(d.from))
		d.last = r.partOf(min(d.to, r.rawBase+r.raw) - 1)
	}
	d.placed()
}

// placed goes on once another part has its place.
func (d *Decoder) placed() {
	r := &d.run
	switch {
	case r.known <= d.last:
		d.stage = stagePlace
	case d.part > r.blocks:
		d.startRun(r.index+1, r.next)
		d.enterRun()
	default:
		d.stage = stageParts
		d.lastRaw, d.lastLen = r.needed(d.last, d.to, d.seg.Mode)
		n := r.dict
		for p := d.first; p <= d.last; p++ {
			n += d.rawLen(p)
		}
		if cap(d.scratch) < n {
			d.scratch = make([]byte, n+n/4)
		}
		d.scratch = d.scratch[:r.dict]
	}
}

// rawLen returns how many raw bytes of a part are decoded.
func (d *Decoder) rawLen(part int) int {
	if part == d.last {
		return d.lastRaw
	}
	return d.run.rawLen(part)
}

// packedLen returns how many bytes of a part are wanted.
func (d *Decoder) packedLen(part int) int {
	if part == d.last {
		return d.lastLen
	}
	return d.run.len[part]
}

// decodeParts decodes the parts that are touched, as far as have reaches, which starts at the next one.
func (d *Decoder) decodeParts(have []byte) error {
	start := d.run.off[d.part]
	for d.part <= d.last {
		at, n := d.run.off[d.part]-start, d.packedLen(d.part)
		if at+n > len(have) {
			return nil
		}
		if err := d.decodePart(have[at : at+n]); err != nil {
			return err
		}
		if d.part++; d.part == 1 {
			d.part = d.first
		}
	}
	d.take()
	return nil
}

// decodePart decodes a part behind those that are in scratch already.
func (d *Decoder) decodePart(src []byte) error {
	r := &d.run
	size := d.rawLen(d.part)
	at := len(d.scratch)
	if d.part == 0 {
		at = 0
	} else {
		d.work.Blocks++
	}
	dst := d.scratch[at : at+size]
	used := len(src)
	if size > 0 {
		var err error
		if used, err = d.decompress(dst, src, d.scratch[:r.dict]); err != nil {
			return d.bad(d.part, r.off[d.part], "%d bytes do not decompress to %d: %v", len(src), size, err)
		}
	}
	d.scratch = d.scratch[:at+size]
	d.work.Used += used
	d.work.Raw += size
	return nil
}

// take takes the document's bytes out of scratch, and goes on to the next run if there are more.
func (d *Decoder) take() {
	r := &d.run
	skip := d.from - r.rawBase // raw bytes of the run before the document that are in scratch:
	if skip >= r.dict {
		skip -= (d.first - 1) * r.block // not those of sub-blocks that were passed over
	}
	n := min(d.to, r.rawBase+r.raw) - d.from
	piece := d.scratch[skip : skip+n]
	d.from += n
	if d.from == d.to && len(d.whole) == 0 {
		d.out, d.stage = piece, stageDone
		return
	}
	d.whole = append(d.whole, piece...)
	if d.from == d.to {
		d.out, d.stage = d.whole, stageDone
		return
	}
	d.enterRun()
}

func (d *Decoder) bad(part, pos int, format string, args ...any) error {
	e := corrupt(d.seg.name, d.chunk.Offset-d.seg.dataOff+int64(pos), format, args...)
	e.Chunk, e.Block = d.chunk.Index, part
	return e
}
