package lucene

import (
	"compress/flate"
	"errors"
	"io"

	"github.com/pierrec/lz4/v4"
)

var errLength = errors.New("another length")

// decompress fills dst from the start of the current part, and returns how many bytes of src were needed.
func (d *Decoder) decompress(dst, src, dict []byte) (used int, err error) {
	switch {
	case d.seg.Mode == BestCompression:
		return len(src), d.decompressDeflate(dst, src, dict)
	case len(dst) < d.run.rawLen(d.part):
		return decodePrefix(dst, src, dict, false)
	case len(src) >= len(dst): // did not compress
		if d.part == 0 {
			dict = nil
		}
		return decodePrefix(dst, src, dict, true)
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
