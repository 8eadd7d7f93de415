package lucene

import (
	"math"
	"slices"
)

// monotonics reads the monotonic arrays: their metadata from .fdm, their packed values from .fdx.
type monotonics struct {
	meta, index string // files, for errors
	c           cursor // in .fdm
	metaOff     int
	packed      []byte
	packedOff   int64 // of packed in .fdx
	old         bool
}

func (m *monotonics) bad(format string, args ...any) error {
	return corrupt(m.meta, int64(m.metaOff+m.c.at), format, args...)
}

var packedWidths = []int{0, 1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64}

// values reads one array of n values, 2^shift of them under one entry. The caller has bounded n.
func (m *monotonics) values(n, shift int) ([]int64, error) {
	start := int64(m.c.u64())
	out := make([]int64, 0, n)
	for len(out) < n {
		low := int64(m.c.u64())
		avg := math.Float32frombits(m.c.u32())
		off := int64(m.c.u64())
		width := int(m.c.u8())
		count := min(n-len(out), 1<<shift)
		if !m.c.ok() {
			return nil, m.bad("cut off in an entry")
		}
		if !slices.Contains(packedWidths, width) {
			return nil, m.bad("%d bits a value, expected one of %v", width, packedWidths)
		}
		from := start + off - m.packedOff
		size := (int64(count)*int64(width) + 7) / 8
		if start < 0 || off < 0 || from < 0 && width > 0 || width > 0 && from > int64(len(m.packed))-size {
			return nil, m.bad("%d bytes of values at %d+%d do not lie in %s", size, start, off, m.index)
		}
		var p []byte
		if width > 0 {
			p = m.packed[from : from+size]
		}
		for i := range count {
			// In float32, as the writer has it; the conversion keeps the product from being fused with the sum.
			line := int64(float32(avg * float32(i)))
			out = append(out, low+line+int64(packedValue(p, i, width, m.old)))
		}
	}
	return out, nil
}

// packedValue returns value i of width bits: low bits first, or in the old layout high bits first. It reads bit by
// byte: this runs once per chunk, at open.
func packedValue(p []byte, i, width int, old bool) uint64 {
	var v uint64
	bit := i * width
	for got := 0; got < width; {
		b, in := uint64(p[bit/8]), bit%8
		take := min(8-in, width-got)
		mask := uint64(1)<<take - 1
		if old {
			v = v<<take | b>>(8-in-take)&mask
		} else {
			v |= b >> in & mask << got
		}
		got += take
		bit += take
	}
	return v
}
