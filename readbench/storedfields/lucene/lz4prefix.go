package lucene

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"unsafe"
)

var errBlock = errors.New("not an LZ4 block of that length")

// decodePrefix fills dst from the start of an LZ4 block whose dictionary is dict, and returns how many bytes of src that
// took. It stops as soon as dst is full: the block may go on. The library for LZ4 blocks decodes only whole ones, and
// that faster than this where there is much to decode; this is for blocks that did not compress, which are mostly one run of
// literals: it copies no more of them than is needed.
//
// If whole is set, src is all of a block that decodes to dst and nothing more: any other one is an error.
func decodePrefix(dst, src, dict []byte, whole bool) (used int, err error) {
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
		if whole && literals > len(dst)-di {
			return si, errBlock
		}
		if literals = min(literals, len(dst)-di); literals > len(src)-si {
			return si, errBlock
		}
		copyLiterals(dst[di:di+literals], src[si:])
		di += literals
		si += literals
		if di == len(dst) {
			if whole && token&15 != 0 { // the last sequence has no match
				return si, errBlock
			}
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
		if whole && n > len(dst)-di {
			return si, errBlock
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
	if whole && si == len(src)-1 && src[si] == 0 { // no literals after a match
		si++
	}
	if whole && si != len(src) {
		return si, errBlock
	}
	return si, nil
}

// copyLiterals fills dst from the start of src, which has as many bytes. Go's copy of more than 2 KiB to a multiple of 16 moves them by
// REP MOVS on many processors, and that takes several times as long from an unaligned source as what copy does otherwise.
func copyLiterals(dst, src []byte) {
	if len(dst) >= 2048 && uintptr(unsafe.Pointer(unsafe.SliceData(dst)))&15 == 0 {
		copy(dst[:8], src)
		dst, src = dst[8:], src[8:]
	}
	copy(dst, src)
}

// moreLength adds the bytes of a length that follow the token: as many of 255 as there are, and one less than that.
func moreLength(src []byte, si, n int) (length, next int, ok bool) {
	for si+8 <= len(src) && n < math.MaxInt32 {
		if less := ^binary.LittleEndian.Uint64(src[si:]); less != 0 {
			k := bits.TrailingZeros64(less) / 8
			return n + k*255 + int(src[si+k]), si + k + 1, true
		}
		n += 8 * 255
		si += 8
	}
	for si < len(src) && n < math.MaxInt32 {
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
