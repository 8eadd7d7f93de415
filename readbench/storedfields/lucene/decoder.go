package lucene

import (
	"bytes"
	"io"
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
// It keeps the header of the chunk that it read last, so another document of it wants no header; a caller that goes
// back and forth between chunks keeps several (StartIn). The dictionary is decoded each time, as in the library, and of
// the sub-blocks those that the document touches, the last one if possible only as far as the document goes. Once its buffers have
// grown, a document of a BestSpeed segment allocates nothing; DEFLATE allocates in the standard library.
//
// The zero Decoder is ready for use. It is not safe for concurrent use: have one a goroutine.
type Decoder struct {
	*current        // header of the document's chunk
	own      Header // for Start

	stage    stage
	from, to int // raw offsets in the chunk of what is still to be decoded of the document
	fields   int
	guess    int // bytes to ask for of a header, or of the numbers in front of a run
	part     int // next part to decode, in stageParts
	first    int // first sub-block that the document touches in this run, 1 if it begins in the dictionary
	last     int // last part that it touches
	lastRaw  int // raw bytes of it that are decoded
	lastLen  int // bytes of it that are wanted
	wantFrom int // what is wanted, in bytes from the start of the chunk
	wantTo   int
	ends     bool // nothing is wanted behind that, in stageParts
	peek     bool

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

// Document returns the document's bytes, valid until the next Start, and how many fields they hold. It panics if Want
// still wants bytes.
func (d *Decoder) Document() (p []byte, fields int) {
	if d.stage != stageDone || d.peek {
		panic("lucene: Document of a decoder that has not been fed all it wants, or was told to Peek")
	}
	return d.out, d.fields
}

// Work returns what decoding the document took so far.
func (d *Decoder) Work() Work { return d.work }

// Want returns the bytes of DataFile that are needed next, n = 0 if none are. To get far with few reads it asks for
// headers with some bytes to spare and for all sub-blocks at once; it never asks for bytes behind the chunk.
func (d *Decoder) Want() (off int64, n int) {
	return d.chunk.Offset + int64(d.wantFrom), d.wantTo - d.wantFrom
}

// Ends reports whether the document is complete with what is wanted now, or is already: else more will be wanted.
func (d *Decoder) Ends() bool {
	switch d.stage {
	case stageDone:
		return true
	case stageParts:
		return d.ends
	}
	return false
}
