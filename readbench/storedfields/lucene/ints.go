package lucene

// How the numbers of the documents of a chunk, one each, are packed: their fields and their lengths.

import "encoding/binary"

// intsGroup is how many numbers are transposed together in the layout of 9.0.
const intsGroup = 128

// readInts reads a number for each document. It returns false if there are too few bytes (c is failed then) or the
// packing is unknown.
func readInts(c *cursor, old bool, out []int32) bool {
	if len(out) == 1 {
		out[0] = int32(c.vInt())
		return c.ok()
	}
	var bits int
	if old {
		bits = c.vInt()
	} else {
		bits = int(c.u8())
	}
	switch {
	case !c.ok():
		return false
	case bits == 0:
		v := int32(c.vInt())
		for i := range out {
			out[i] = v
		}
		return c.ok()
	case old && bits <= 31:
		p := c.take((len(out)*bits + 7) / 8)
		if p == nil {
			return false
		}
		for i := range out {
			out[i] = int32(packedValue(p, i, bits, true))
		}
		return true
	case !old && (bits == 8 || bits == 16 || bits == 32):
		p := c.take(len(out) * bits / 8)
		if p == nil {
			return false
		}
		unpackInts(p, bits, out)
		return true
	}
	return false
}

// unpackInts decodes numbers of 8, 16 or 32 bits: groups of 128 stand transposed in little-endian words of 64 bits, the
// rest one after the other.
func unpackInts(p []byte, bits int, out []int32) {
	words := intsGroup * bits / 64
	mask := uint64(1)<<bits - 1
	for ; len(out) >= intsGroup; out = out[intsGroup:] {
		for i := range words {
			word := binary.LittleEndian.Uint64(p[8*i:])
			for shift, j := 64-bits, i; shift >= 0; shift, j = shift-bits, j+words {
				out[j] = int32(word >> shift & mask)
			}
		}
		p = p[8*words:]
	}
	for i := range out {
		switch bits {
		case 8:
			out[i] = int32(p[i])
		case 16:
			out[i] = int32(binary.LittleEndian.Uint16(p[2*i:]))
		default:
			out[i] = int32(binary.LittleEndian.Uint32(p[4*i:]))
		}
	}
}

// appendInts appends a number for each document.
func appendInts(dst []byte, v []int32) []byte {
	if len(v) == 1 {
		return binary.AppendUvarint(dst, uint64(v[0]))
	}
	same, all := true, int32(0)
	for _, x := range v {
		same = same && x == v[0]
		all |= x
	}
	if same {
		return binary.AppendUvarint(append(dst, 0), uint64(v[0]))
	}
	width := 32
	if all <= 0xff {
		width = 8
	} else if all <= 0xffff {
		width = 16
	}
	dst = append(dst, byte(width))
	words := intsGroup * width / 64
	for ; len(v) >= intsGroup; v = v[intsGroup:] {
		for i := range words {
			var word uint64
			for j := i; j < intsGroup; j += words {
				word = word<<width | uint64(v[j])
			}
			dst = binary.LittleEndian.AppendUint64(dst, word)
		}
	}
	for _, x := range v {
		switch width {
		case 8:
			dst = append(dst, byte(x))
		case 16:
			dst = binary.LittleEndian.AppendUint16(dst, uint16(x))
		default:
			dst = binary.LittleEndian.AppendUint32(dst, uint32(x))
		}
	}
	return dst
}
