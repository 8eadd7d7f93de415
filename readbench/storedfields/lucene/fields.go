package lucene

import (
	"errors"
	"fmt"
	"math"
)

// Kind is the type of a stored value.
type Kind uint8

// The kinds, with the numbers that they have in the files.
const (
	String Kind = iota
	Bytes
	Int
	Float
	Long
	Double
)

var kindNames = [...]string{"string", "bytes", "int", "float", "long", "double"}

// String returns the kind's name, for instance "double".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// A Field is one stored value.
type Field struct {
	Number int     // see Segment.FieldName
	Kind   Kind    // says which of the following holds the value
	Bytes  []byte  // of String and Bytes; part of the document's bytes
	Int    int64   // of Int and Long
	Float  float64 // of Float and Double
}

var errField = errors.New("lucene: a document's fields cannot be read")

// Fields goes through the fields of a document, without allocation. It is not safe for concurrent use.
type Fields struct {
	c    cursor
	left int
	err  error
}

// Fields returns the fields of the document that was decoded, valid until the next Start.
func (d *Decoder) Fields() Fields {
	p, n := d.Document()
	return Fields{c: cursor{p: p, order: d.seg.layout.order}, left: n}
}

// Next puts the next field in f and returns true; false if there is none, or if the document is damaged: see Err.
func (it *Fields) Next(f *Field) bool {
	c := &it.c
	if it.left == 0 || it.err != nil {
		if it.err == nil && c.at != len(c.p) {
			it.err = fmt.Errorf("%w: %d bytes after the last field, offset %d of %d: %w",
				errField, len(c.p)-c.at, c.at, len(c.p), ErrCorrupt)
		}
		return false
	}
	it.left--
	at := c.at
	key := c.uvar(10)
	*f = Field{Number: int(key >> 3), Kind: Kind(key & 7)}
	switch f.Kind {
	case String, Bytes:
		f.Bytes = c.take(c.vInt())
	case Int:
		v := uint32(c.uvar(5))
		f.Int = int64(int32(v>>1) ^ -int32(v&1))
	case Float:
		f.Float = float64(c.zFloat())
	case Long:
		f.Int = c.tLong()
	case Double:
		f.Float = c.zDouble()
	default:
		c.failed = true
	}
	if !c.ok() {
		it.err = fmt.Errorf("%w: field number %d, %v, offset %d of %d: %w",
			errField, f.Number, f.Kind, at, len(c.p), ErrCorrupt)
		return false
	}
	return true
}

// Err returns what ended the fields early, nil if nothing did. It wraps ErrCorrupt.
func (it *Fields) Err() error { return it.err }

// zFloat reads a float of 1 to 5 bytes.
func (c *cursor) zFloat() float32 {
	b := c.u8()
	switch {
	case b == 0xff:
		return math.Float32frombits(c.u32())
	case b >= 0x80:
		return float32(int(b&0x7f) - 1)
	}
	bits := uint32(b)<<24 | uint32(c.u16())<<8
	return math.Float32frombits(bits | uint32(c.u8()))
}

// zDouble reads a double of 1 to 9 bytes.
func (c *cursor) zDouble() float64 {
	b := c.u8()
	switch {
	case b == 0xff:
		return math.Float64frombits(c.u64())
	case b == 0xfe:
		return float64(math.Float32frombits(c.u32()))
	case b >= 0x80:
		return float64(int(b&0x7f) - 1)
	}
	bits := uint64(b)<<56 | uint64(c.u32())<<24
	bits |= uint64(c.u16()) << 8
	return math.Float64frombits(bits | uint64(c.u8()))
}

// tLong reads a number of 1 to 10 bytes that may count seconds, hours or days in milliseconds.
func (c *cursor) tLong() int64 {
	b := c.u8()
	bits := uint64(b & 0x1f)
	if b&0x20 != 0 {
		bits |= c.uvar(10) << 5
	}
	v := int64(bits>>1) ^ -int64(bits&1)
	switch b >> 6 {
	case 1:
		v *= 1000
	case 2:
		v *= 3600 * 1000
	case 3:
		v *= 24 * 3600 * 1000
	}
	return v
}
