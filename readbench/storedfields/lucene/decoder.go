package lucene

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// A Decoder turns the bytes of chunks into documents. It does no I/O: Start names a document, Want says which bytes
// are needed next, Feed takes them, until nothing is wanted:
//
//	for err := d.Start(segment, doc); ; err = d.Feed(off, p) {
//		if err != nil { … }
//		off, n := d.Want()
//		if n == 0 { break }
//		p = … // n bytes of segment.DataFile at off, or more around them
//	}
//	use(d.Document())
//
// It keeps the header of the chunk that it read last, so another document of it wants no header. The dictionary is
// decoded each time, as in the library. Once its buffers have grown, a document of a BestSpeed segment allocates
// nothing; DEFLATE allocates in the standard library.
//
// The zero Decoder is ready for use. It is not safe for concurrent use: have one a goroutine.
type Decoder struct {
	seg    *Segment
	chunk  Chunk
	parsed bool // header is that of chunk
	header chunkHeader
	run    run // valid if parsed

	stage    stage
	from, to int // raw offsets in the chunk of what is still to be decoded of the document
	fields   int
	guess    int // bytes to ask for of a header, or of the numbers in front of a run
	part     int // next part to decode, in stageParts
	last     int // last part that the document touches in this run

	scratch []byte // dictionary and sub-blocks of a run
	whole   []byte // a document of several runs
	out     []byte
	work    Work

	src     bytes.Reader
	inflate io.ReadCloser
}

type stage int

const (
	stageDone   stage = iota
	stageHeader       // the chunk's header
	stageRun          // the numbers in front of a run
	stagePlace        // DEFLATE: the length in front of a part
	stageParts        // the parts
)

// Work is what decoding one document took.
type Work struct {
	Headers int // chunk headers parsed: 0 if the chunk is the one that was read last
	Blocks  int // sub-blocks decoded, dictionaries not counted
	Used    int // bytes of the file that were needed
	Raw     int // bytes that came out, dictionaries included
}

// Start begins with a document, 0 ≤ doc < s.Docs. What the decoder handed out before is not valid any more.
func (d *Decoder) Start(s *Segment, doc int) error {
	k, err := s.Chunk(doc)
	if err != nil {
		return err
	}
	if d.seg != s || d.chunk.Index != k.Index {
		d.seg, d.chunk, d.parsed = s, k, false
	}
	d.out, d.whole, d.work = nil, d.whole[:0], Work{}
	d.from = doc - k.DocBase
	if !d.parsed {
		d.stage = stageHeader
		// A byte for its fields and two for its length a document, the numbers in front of the first run.
		d.guess = int(min(k.Length, int64(64+3*k.Docs)))
		return nil
	}
	d.begin()
	return d.advance(0, nil)
}

// Chunk returns where the chunk of the document lies: whoever reads chunks as a whole feeds all of it at once.
func (d *Decoder) Chunk() Chunk { return d.chunk }

// Document returns the document's bytes, valid until the next Start, and how many fields they hold. It panics if Want
// still wants bytes.
func (d *Decoder) Document() (p []byte, fields int) {
	if d.stage != stageDone {
		panic("lucene: Document of a decoder that has not been fed all it wants")
	}
	return d.out, d.fields
}

// Work returns what decoding the document took so far.
func (d *Decoder) Work() Work { return d.work }

// Want returns the bytes of DataFile that are needed next, n = 0 if none are. To get far with few reads it asks for
// headers with some bytes to spare and for all sub-blocks at once; it never asks for bytes behind the chunk.
func (d *Decoder) Want() (off int64, n int) {
	from, to := d.want()
	return d.chunk.Offset + int64(from), to - from
}

// want is Want in bytes from the start of the chunk.
func (d *Decoder) want() (from, to int) {
	end := int(d.chunk.Length)
	switch d.stage {
	case stageHeader:
		return 0, d.guess
	case stageRun:
		return d.run.pos, min(end, d.run.pos+d.guess)
	case stagePlace:
		return d.run.next, min(end, d.run.next+5)
	case stageParts:
		r := &d.run
		to := d.part
		if d.seg.Mode == BestSpeed && (d.part > 0 || d.last > 0 && d.first() == 1) {
			to = d.last
		}
		return r.off[d.part], r.off[to] + r.len[to]
	}
	return 0, 0
}

// Feed takes bytes of DataFile that start at off and cover what is wanted; it goes on as far as they reach. It keeps
// no reference to them.
func (d *Decoder) Feed(off int64, p []byte) error {
	low := off - d.chunk.Offset // of p, in the chunk
	if from, to := d.want(); int64(from) < low || int64(to) > low+int64(len(p)) {
		return fmt.Errorf("%s: fed %d bytes at %d, wanted %d at %d",
			d.seg.name, len(p), off, to-from, d.chunk.Offset+int64(from))
	}
	return d.advance(low, p)
}

// advance goes on as far as p reaches, which starts at low in the chunk. Where nothing is wanted nothing need be
// there, so that Want's zero always means the end.
func (d *Decoder) advance(low int64, p []byte) error {
	for d.stage != stageDone {
		from, to := d.want()
		var have []byte
		if at := int64(from) - low; at >= 0 && at <= int64(len(p)) {
			have = p[at:]
			have = have[:min(int64(len(have)), d.chunk.Length-int64(from))]
		}
		if len(have) < to-from {
			return nil
		}
		if err := d.step(have); err != nil {
			d.parsed = false // nothing of a damaged chunk is kept
			return err
		}
	}
	return nil
}

// step goes through one stage; have starts with the bytes wanted.
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
	case stageParts:
		return d.decodePart(have)
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

// startRun makes run i, which starts at pos, the current one.
func (d *Decoder) startRun(i, pos int) {
	total := int(d.header.starts[d.chunk.Docs])
	r := &d.run
	r.index, r.pos, r.head, r.known, r.rawBase, r.raw = i, pos, 0, 0, 0, total
	if d.header.sliced {
		r.rawBase = i * d.seg.layout.chunkSize
		r.raw = min(d.seg.layout.chunkSize, total-r.rawBase)
	}
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
		d.last = d.partOf(min(d.to, r.rawBase+r.raw) - 1)
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
		n := r.dict
		for p := d.first(); p <= d.last; p++ {
			n += r.rawLen(p)
		}
		d.scratch = slices.Grow(d.scratch[:0], n)[:r.dict]
	}
}

// partOf returns the part of the current run that holds a raw offset of the chunk.
func (d *Decoder) partOf(raw int) int {
	raw -= d.run.rawBase + d.run.dict
	if raw < 0 {
		return 0
	}
	return raw/d.run.block + 1
}

// first returns the first sub-block that the document touches in the current run, 1 if it begins in the dictionary.
func (d *Decoder) first() int { return max(1, d.partOf(d.from)) }

// decodePart decodes a part behind those that are in scratch already, and goes on to the next one that is touched.
func (d *Decoder) decodePart(have []byte) error {
	r := &d.run
	size := r.rawLen(d.part)
	at := len(d.scratch)
	if d.part == 0 {
		at = 0
	}
	dst := d.scratch[at : at+size]
	src := have[:r.len[d.part]]
	if size > 0 {
		if err := d.decompress(dst, src, d.scratch[:r.dict], d.part > 0); err != nil {
			return d.bad(d.part, r.off[d.part], "%d bytes do not decompress to %d: %v", len(src), size, err)
		}
	}
	d.scratch = d.scratch[:at+size]
	d.work.Used += len(src)
	d.work.Raw += size
	if d.part > 0 {
		d.work.Blocks++
	}
	if d.part++; d.part == 1 {
		d.part = d.first()
	}
	if d.part <= d.last {
		return nil
	}
	d.take()
	return nil
}

// take takes the document's bytes out of scratch, and goes on to the next run if there are more.
func (d *Decoder) take() {
	r := &d.run
	skip := d.from - r.rawBase // raw bytes of the run before the document that are in scratch: dictionary …
	if skip >= r.dict {
		skip = r.dict + (skip-r.dict)%r.block // … and the start of a sub-block
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

var errLength = errors.New("another length")

func (d *Decoder) decompress(dst, src, dict []byte, withDict bool) error {
	if d.seg.Mode == BestSpeed {
		var n int
		var err error
		if withDict {
			n, err = lz4.UncompressBlockWithDict(src, dst, dict)
		} else {
			n, err = lz4.UncompressBlock(src, dst)
		}
		if err == nil && n != len(dst) {
			err = errLength
		}
		return err
	}
	if !withDict {
		dict = nil
	}
	d.src.Reset(src)
	if d.inflate == nil {
		d.inflate = flate.NewReaderDict(&d.src, dict)
	} else if err := d.inflate.(flate.Resetter).Reset(&d.src, dict); err != nil {
		return err
	}
	_, err := io.ReadFull(d.inflate, dst)
	return err
}

func (d *Decoder) bad(part, pos int, format string, args ...any) error {
	e := corrupt(d.seg.name, d.chunk.Offset-d.seg.dataOff+int64(pos), format, args...)
	e.Chunk, e.Block = d.chunk.Index, part
	return e
}
