package datafile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// Whatever is done to one byte of whatever range: Check and Explain agree, and Explain names that byte.
func FuzzExplainAgreesWithCheck(f *testing.F) {
	f.Add(uint64(1), int64(0), uint16(16384), uint16(5), byte(0))
	f.Add(uint64(1), int64(4095), uint16(1), uint16(0), byte(1))
	f.Add(uint64(0), int64(0), uint16(9), uint16(8), byte(0xff))
	f.Add(uint64(1<<63), int64(1<<50-1), uint16(4097), uint16(4096), byte(0x80))
	f.Fuzz(func(t *testing.T, seed uint64, off int64, n, at uint16, xor byte) {
		off &= 1<<52 - 1
		p := filled(seed, off, int(n))
		damaged := n > 0 && xor != 0
		if n > 0 {
			p[at%n] ^= xor
		}
		c := New(seed)
		err := c.Explain(p, off)
		if ok := c.Check(p, off); ok == damaged || ok != (err == nil) {
			t.Fatalf("damaged is %v, Check says %v, Explain says %v", damaged, ok, err)
		}
		if !damaged {
			return
		}
		byteAt := off + int64(at%n)
		if prefix := fmt.Sprintf("byte %d (block %d) is ", byteAt, byteAt/BlockSize); !strings.HasPrefix(err.Error(), prefix) {
			t.Errorf("Explain says %q, want %q…", err, prefix)
		}
		if c.CheckEnds(p, off) && (int(at%n) < 8 || int(at%n) >= int(n)-8) {
			t.Errorf("CheckEnds does not see byte %d of %d", at%n, n)
		}
	})
}

// Whatever the bytes are: what Identify accepts is the first block of the content that it returns, and it
// accepts all of those.
func FuzzIdentify(f *testing.F) {
	f.Add([]byte{}, uint64(0))
	f.Add(filled(1, 0, BlockSize), uint64(1))
	f.Add(filled(1, 8, BlockSize), uint64(1<<63))
	f.Add(make([]byte, BlockSize), uint64(3))
	f.Fuzz(func(t *testing.T, block []byte, seed uint64) {
		if c, ok := Identify(block); ok && !bytes.Equal(block[:BlockSize], filled(c.Seed(), 0, BlockSize)) {
			t.Errorf("accepted as seed %d, which it is not", c.Seed())
		}
		own := append(filled(seed, 0, BlockSize), block...)
		if c, ok := Identify(own); !ok || c.Seed() != seed {
			t.Errorf("a file of seed %d is identified as seed %d, ok %v", seed, c.Seed(), ok)
		}
	})
}
