// Package datafile makes and checks data files: files of known, incompressible content.
//
// The content is a function of seed and position alone. Word i of the file (8 bytes, little-endian, at byte
// offset 8·i) is mix(key + i·γ), where key = mix(seed): the SplitMix64 generator of Steele, Lea and Flood ("Fast
// splittable pseudorandom number generators", OOPSLA 2014) with its state computed instead of stepped. So
// any range can be checked without reading anything else, two files of one seed agree as far as the shorter goes, and,
// since mix is a bijection, a word tells which position (or which seed) it belongs to.
package datafile

import (
	"encoding/binary"
	"fmt"
)

// BlockSize is the granularity of a data file in bytes: its size is a multiple, and a check names bad blocks
// by it. It has nothing to do with the page size of the machine.
const BlockSize = 4096

const (
	wordSize = 8
	gamma    = 0x9e3779b97f4a7c15 // SplitMix64's increment: 2^64 divided by the golden ratio
	mul1     = 0xbf58476d1ce4e5b9 // SplitMix64's multipliers
	mul2     = 0x94d049bb133111eb
	inv1     = 0x96de1b173f119089 // their inverses modulo 2^64
	inv2     = 0x319642b2d24d8ec3
	gammaInv = 0xf1de83e19937733d
)

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * mul1
	z = (z ^ z>>27) * mul2
	return z ^ z>>31
}

// unmix is the inverse of mix.
func unmix(z uint64) uint64 {
	z = (z ^ z>>31 ^ z>>62) * inv2
	z = (z ^ z>>27 ^ z>>54) * inv1
	return z ^ z>>30 ^ z>>60
}

// Content is what a data file of one seed holds. The zero value is the content of seed 0 only by way of New: use New.
// A Content is a value, safe for concurrent use.
type Content struct{ key uint64 }

// New returns the content of the given seed.
func New(seed uint64) Content { return Content{mix(seed)} }

// Seed returns the seed.
func (c Content) Seed() uint64 { return unmix(c.key) }

// word returns the aligned word i.
func (c Content) word(i uint64) uint64 { return mix(c.key + i*gamma) }

// wordAt returns the 8 bytes at any byte offset as a little-endian number.
func (c Content) wordAt(off int64) uint64 {
	i, shift := uint64(off)/wordSize, uint64(off)%wordSize*8
	w := c.word(i)
	if shift == 0 {
		return w
	}
	return w>>shift | c.word(i+1)<<(64-shift)
}

// Fill writes the content at byte offset off into p. off and len(p) are multiples of 8.
func (c Content) Fill(p []byte, off int64) {
	state := c.key + uint64(off)/wordSize*gamma
	for ; len(p) >= wordSize; p = p[wordSize:] {
		binary.LittleEndian.PutUint64(p, mix(state))
		state += gamma
	}
}

// CheckEnds reports whether the first and the last 8 bytes of p are the content at byte offset off: the cheap
// check, made on every read. Slices shorter than 8 bytes are checked whole.
func (c Content) CheckEnds(p []byte, off int64) bool {
	n := len(p)
	if n < wordSize {
		return c.firstBad(p, off) < 0
	}
	return binary.LittleEndian.Uint64(p) == c.wordAt(off) &&
		binary.LittleEndian.Uint64(p[n-wordSize:]) == c.wordAt(off+int64(n-wordSize))
}

// CheckStrides is CheckEnds and, in between, one aligned word in every stride bytes, so that each page of a
// mapping is touched. stride is a multiple of 8.
func (c Content) CheckStrides(p []byte, off int64, stride int) bool {
	inWord := int(off % wordSize)
	for at := stride - inWord; at+wordSize <= len(p); at += stride {
		if binary.LittleEndian.Uint64(p[at:]) != c.word(uint64(off+int64(at))/wordSize) {
			return false
		}
	}
	return c.CheckEnds(p, off)
}

// Check reports whether all of p is the content at byte offset off.
func (c Content) Check(p []byte, off int64) bool { return c.firstBad(p, off) < 0 }

// firstBad returns the index of a byte of the first wrong word (its first wrong byte), or -1.
func (c Content) firstBad(p []byte, off int64) int {
	at := 0
	for ; at+wordSize <= len(p); at += wordSize {
		if binary.LittleEndian.Uint64(p[at:]) != c.wordAt(off+int64(at)) {
			break
		}
	}
	for ; at < len(p); at++ {
		if p[at] != byte(c.wordAt(off+int64(at))) {
			return at
		}
	}
	return -1
}

// Explain says what is wrong with p, which should be the content at byte offset off: where the first difference is, and
// where the bytes that are there would belong. It returns nil if nothing is wrong.
func (c Content) Explain(p []byte, off int64) error {
	bad := c.firstBad(p, off)
	if bad < 0 {
		return nil
	}
	at := off + int64(bad)
	err := fmt.Errorf("byte %d (block %d) is %#02x, want %#02x", at, at/BlockSize, p[bad], byte(c.wordAt(at)))
	if from, ok := c.locate(p[bad:]); ok && from != at { // what is where it belongs is only behind the damage
		return fmt.Errorf("%w; what is there belongs to byte %d (block %d)", err, from, from/BlockSize)
	}
	if rest := p[bad:]; len(rest) >= wordSize && binary.LittleEndian.Uint64(rest) == 0 {
		return fmt.Errorf("%w; there are zeros: a hole, or never written", err)
	}
	return err
}

// locate finds where in the content p comes from: one of its first words is an aligned one there, and tells its index.
func (c Content) locate(p []byte) (off int64, ok bool) {
	const farthest = 1 << 44 // words; beyond any file
	for at := 0; at < wordSize && at+wordSize <= len(p); at++ {
		i := (unmix(binary.LittleEndian.Uint64(p[at:])) - c.key) * gammaInv
		if i < farthest && int64(i)*wordSize >= int64(at) {
			return int64(i)*wordSize - int64(at), true
		}
	}
	return 0, false
}

// Identify returns the content that the first block of a file belongs to; ok is false if it is no data file's
// first block.
func Identify(block []byte) (c Content, ok bool) {
	if len(block) < BlockSize {
		return Content{}, false
	}
	c = Content{unmix(binary.LittleEndian.Uint64(block))}
	return c, c.Check(block[:BlockSize], 0)
}
