package lucene

import (
	"compress/flate"
	"errors"
	"io"
	"unsafe"

	"github.com/pierrec/lz4/v4"
)

var errLength = errors.New("another length")

// decompress fills dst from the start of the current part, and returns how many bytes of src were needed.
func (d *Decoder) decompress(dst, src, dict []byte) (used int, err error) {
	switch {
	case d.seg.Mode == BestCompression:
		return len(src), d.decompressDeflate(dst, src, dict)
	case len(dst) < d.run.rawLen(d.part):
		return decodePrefix(dst, src, dict)
	case d.part == 0:
		used, err = lz4.UncompressBlock(src, dst)
	default:
		used, err = lz4.UncompressBlockWithDict(src, dst, dict)
	}
	if err == nil && used != len(dst) {
		err = errLength
	}
	return len(src), err
}

func (d *Decoder) decompressDeflate(dst, src, dict []byte) error {
	if d.part == 0 {
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

// unaligned returns n bytes, of buf if it has as many, that do not start at a multiple of 16: Go's copy of more than 2 KiB to
// one that does moves them by REP MOVS on many processors, which takes several times as long from an unaligned source.
func unaligned(buf []byte, n int) []byte {
	if cap(buf) >= n {
		return buf[:n]
	}
	buf = make([]byte, n+n/4+16)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(buf)))
	return buf[(8-at)&15:][:n]
}
