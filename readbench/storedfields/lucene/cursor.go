package lucene

import "encoding/binary"

// cursor reads numbers from bytes. Once something does not fit it is failed for good and reads zeros: callers check
// ok after a group of reads, and before they believe a length.
type cursor struct {
	p      []byte
	at     int
	failed bool
	order  binary.ByteOrder
}

func (c *cursor) ok() bool { return !c.failed }

// take returns the next n bytes, nil if there are not as many.
func (c *cursor) take(n int) []byte {
	if c.failed || n < 0 || n > len(c.p)-c.at {
		c.failed = true
		return nil
	}
	c.at += n
	return c.p[c.at-n : c.at]
}

func (c *cursor) u8() byte {
	if c.failed || c.at >= len(c.p) {
		c.failed = true
		return 0
	}
	c.at++
	return c.p[c.at-1]
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// vInt reads a 32-bit number of 1 to 5 bytes that must not be negative, as all lengths and counts are.
func (c *cursor) vInt() int {
	if p := c.p[c.at:]; len(p) > 1 && !c.failed { // most have one byte or two
		if p[0] < 0x80 {
			c.at++
			return int(p[0])
		}
		if p[1] < 0x80 {
			c.at += 2
			return int(p[0]&0x7f) | int(p[1])<<7
		}
	}
	v := c.uvar(5)
	if v > 1<<31-1 {
		c.failed = true
		return 0
	}
	return int(v)
}

// uvar reads 7 bits a byte, low ones first, from at most limit bytes (at most 10).
func (c *cursor) uvar(limit int) uint64 {
	var v uint64
	for i := range limit {
		b := c.u8()
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v
		}
	}
	c.failed = true
	return 0
}

// str reads a string: vInt length, bytes.
func (c *cursor) str() string { return string(c.take(c.vInt())) }

// skipStrings passes over n strings.
func (c *cursor) skipStrings(n int) {
	for i := 0; i < n && c.ok(); i++ {
		c.take(c.vInt())
	}
}
