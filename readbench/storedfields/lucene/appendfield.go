package lucene

import (
	"encoding/binary"
	"math"
)

// AppendField appends a stored value to a document in the 9.0 layout. f.Number must not be negative, an Int must fit
// into 32 bits and a Float into a float32 (it is rounded). It panics if f.Kind is none of the kinds.
func AppendField(dst []byte, f Field) []byte {
	dst = binary.AppendUvarint(dst, uint64(f.Number)<<3|uint64(f.Kind))
	switch f.Kind {
	case String, Bytes:
		dst = binary.AppendUvarint(dst, uint64(len(f.Bytes)))
		return append(dst, f.Bytes...)
	case Int:
		v := int32(f.Int)
		return binary.AppendUvarint(dst, uint64(uint32(v<<1^v>>31)))
	case Float:
		return appendZFloat(dst, float32(f.Float))
	case Long:
		return appendTLong(dst, f.Int)
	case Double:
		return appendZDouble(dst, f.Float)
	}
	panic("lucene: AppendField of " + f.Kind.String())
}

func appendZFloat(dst []byte, v float32) []byte {
	bits := math.Float32bits(v)
	switch {
	case v >= -1 && v <= 125 && v == float32(int(v)) && bits != 1<<31: // −0 is not 0
		return append(dst, 0x80|byte(int(v)+1))
	case bits>>31 == 0:
		dst = append(dst, byte(bits>>24))
		dst = binary.LittleEndian.AppendUint16(dst, uint16(bits>>8))
		return append(dst, byte(bits))
	}
	return binary.LittleEndian.AppendUint32(append(dst, 0xff), bits)
}

func appendZDouble(dst []byte, v float64) []byte {
	bits := math.Float64bits(v)
	switch {
	case v >= -1 && v <= 124 && v == float64(int(v)) && bits != 1<<63:
		return append(dst, 0x80|byte(int(v)+1))
	case v == float64(float32(v)):
		return binary.LittleEndian.AppendUint32(append(dst, 0xfe), math.Float32bits(float32(v)))
	case bits>>63 == 0:
		dst = append(dst, byte(bits>>56))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(bits>>24))
		dst = binary.LittleEndian.AppendUint16(dst, uint16(bits>>8))
		return append(dst, byte(bits))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xff), bits)
}

func appendTLong(dst []byte, v int64) []byte {
	var unit byte
	switch {
	case v%1000 != 0:
	case v%(24*3600*1000) == 0:
		unit, v = 3, v/(24*3600*1000)
	case v%(3600*1000) == 0:
		unit, v = 2, v/(3600*1000)
	default:
		unit, v = 1, v/1000
	}
	z := uint64(v<<1 ^ v>>63)
	head := unit<<6 | byte(z&0x1f)
	if z >>= 5; z == 0 {
		return append(dst, head)
	}
	return binary.AppendUvarint(append(dst, head|0x20), z)
}
