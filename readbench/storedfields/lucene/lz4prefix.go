package lucene

import (
	"encoding/binary"
	"errors"
)

var errBlock = errors.New("not an LZ4 block of that length")

// decodePrefix fills dst from the start of an LZ4 block whose dictionary is dict, and returns how many bytes of src that
// took. It stops as soon as dst is full: the block may go on. The library for LZ4 blocks decodes only whole ones, and
// that faster than this where there is much to decode; this is for blocks that did not compress, of which it copies no more
// than is needed.
func decodePrefix(dst, src, dict []byte) (used int, err error) {
	di, si := 0, 0
	for di < len(dst) {
		if si >= len(src) {
			return si, errBlock
		}
		token := src[si]
		si++
		ok := true
		literals := int(token >> 4)
		if literals == 15 {
			if literals, si, ok = moreLength(src, si, literals); !ok {
				return si, errBlock
			}
		}
		if literals = min(literals, len(dst)-di); literals > len(src)-si {
			return si, errBlock
		}
		copy(dst[di:di+literals], src[si:])
		di += literals
		si += literals
		if di == len(dst) {
			break
		}
		if si+2 > len(src) {
			return si, errBlock
		}
		offset := int(binary.LittleEndian.Uint16(src[si:]))
		si += 2
		n := int(token&15) + lz4MinMatch
		if token&15 == 15 {
			if n, si, ok = moreLength(src, si, n); !ok {
				return si, errBlock
			}
		}
		n = min(n, len(dst)-di)
		if offset == 0 || offset > di+len(dict) {
			return si, errBlock
		}
		if offset > di { // begins in the dictionary
			k := copy(dst[di:di+n], dict[len(dict)-(offset-di):])
			di += k
			n -= k
		}
		for n > 0 { // each round copies what is there already, at most
			k := copy(dst[di:di+n], dst[di-offset:di])
			di += k
			n -= k
		}
	}
	return si, nil
}

// moreLength adds the bytes of a length that follow the token.
func moreLength(src []byte, si, n int) (length, next int, ok bool) {
	for si < len(src) && n < 1<<31 {
		b := src[si]
		si++
		n += int(b)
		if b < 255 {
			return n, si, true
		}
	}
	return n, si, false
}

// prefixBound is how many bytes of a block at the most it takes to decode its first n bytes of all. A sequence of l
// literals and a match of m ≥ 4 takes at most l+m+l/255 bytes; of the one in which byte n lies, the token, the offset and
// the lengths come on top, and these say how far it goes at the most: to the block's end.
func prefixBound(n, all int) int { return n + n/255 + 2*(all/255) + 16 }
