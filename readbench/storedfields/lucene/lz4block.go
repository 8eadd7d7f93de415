package lucene

import (
	"encoding/binary"
	"math/bits"
)

// The LZ4 block format (https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md): sequences of a token (4 bits of
// literal length, 4 bits of match length − 4; 15 says more bytes follow), literals, a 16-bit offset back. The library
// that decodes here cannot encode blocks that refer to a dictionary, so this does.
const (
	lz4HashBits    = 13
	lz4MinMatch    = 4
	lz4LastLiteral = 5  // the last bytes of a block are literals
	lz4LastMatch   = 12 // no match starts in the last bytes of a block
	lz4MaxOffset   = 1<<16 - 1
)

// blockEncoder makes LZ4 blocks with a common dictionary. It takes the first match that it finds, and looks at fewer
// positions the longer it has found none.
type blockEncoder struct {
	dict  [1 << lz4HashBits]int32 // position + 1 of a place in the dictionary for each hash
	table [1 << lz4HashBits]int32 // the same while a block is encoded
}

func lz4Hash(v uint32) uint32 { return v * 2654435761 >> (32 - lz4HashBits) }

// setDict makes dict the dictionary of the blocks to come; it may be empty.
func (e *blockEncoder) setDict(dict []byte) {
	clear(e.dict[:])
	for i := 0; i+lz4MinMatch <= len(dict); i++ {
		e.dict[lz4Hash(binary.LittleEndian.Uint32(dict[i:]))] = int32(i + 1)
	}
}

// append appends p[start:] as a block to dst. p[:start] is the dictionary that was set.
func (e *blockEncoder) append(dst, p []byte, start int) []byte {
	e.table = e.dict
	anchor, i := start, start // first byte not encoded yet, place to look at
	for i <= len(p)-lz4LastMatch {
		v := binary.LittleEndian.Uint32(p[i:])
		slot := &e.table[lz4Hash(v)]
		from := int(*slot) - 1
		*slot = int32(i + 1)
		if from < 0 || i-from > lz4MaxOffset || binary.LittleEndian.Uint32(p[from:]) != v {
			i += 1 + (i-anchor)>>6
			continue
		}
		n := lz4MinMatch + common(p[from+lz4MinMatch:], p[i+lz4MinMatch:len(p)-lz4LastLiteral])
		dst = appendSequence(dst, p[anchor:i], n-lz4MinMatch)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(i-from))
		dst = appendLength(dst, n-lz4MinMatch)
		i += n
		anchor = i
	}
	return appendSequence(dst, p[anchor:], 0)
}

// appendSequence appends a token, the rest of the literals' length and the literals.
func appendSequence(dst, literals []byte, match int) []byte {
	dst = append(dst, byte(min(len(literals), 15)<<4|min(match, 15)))
	dst = appendLength(dst, len(literals))
	return append(dst, literals...)
}

// appendLength appends what of a length does not fit into the token.
func appendLength(dst []byte, n int) []byte {
	if n < 15 {
		return dst
	}
	for n -= 15; n >= 255; n -= 255 {
		dst = append(dst, 255)
	}
	return append(dst, byte(n))
}

// common returns how many of b's bytes a starts with; a is not shorter than b.
func common(a, b []byte) int {
	n := 0
	for ; n+8 <= len(b); n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
