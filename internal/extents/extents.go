// Package extents asks the file system whether what a file holds lies on its device as it is, so that reading it means reading
// as many bytes of the device.
package extents

import "fmt"

// A Map is what a range of a file consists of, in bytes.
type Map struct {
	Size      int64 // of the range
	Unwritten int64 // allocated, but never written (fallocate): zeros, for which the device is not read
	Hole      int64 // not allocated: likewise
	Encoded   int64 // compressed: the device delivers fewer bytes than are read
	Inline    int64 // among the file system's own records, whose cache is not the file's

	Partial bool // the rest of the range was not looked at, after a part like these was found
}

// add counts n bytes of an extent that has flags.
func (m *Map) add(n int64, flags uint32) {
	switch {
	case flags&flagInline != 0:
		m.Inline += n
	case flags&flagUnwritten != 0:
		m.Unwritten += n
	case flags&flagEncoded != 0 && flags&flagEncrypted == 0: // encrypted bytes are as many on the device
		m.Encoded += n
	}
}

// clean reports whether all of the range lies on the device.
func (m *Map) clean() bool { return m.Unwritten+m.Hole+m.Encoded+m.Inline == 0 }

// Err returns an error that says what of the range does not lie on the device as it is, and why that matters; nil if
// nothing is. One cause is enough: the first of unwritten, hole, compressed and inline.
func (m *Map) Err() error {
	share := func(n int64, what, why string) error {
		least := ""
		if m.Partial {
			least = "at least "
		}
		return fmt.Errorf("%s%d of %d bytes (%.1f %%) %s: %s", least, n, m.Size, 100*float64(n)/float64(m.Size), what, why)
	}
	switch {
	case m.Unwritten > 0:
		return share(m.Unwritten, "lie in extents that were allocated and never written (fallocate)", "they are not read from the device")
	case m.Hole > 0:
		return share(m.Hole, "are holes, so it is sparse", "they are not read from the device")
	case m.Encoded > 0:
		return share(m.Encoded, "are compressed by the file system", "fewer are read from the device")
	case m.Inline > 0:
		return share(m.Inline, "lie among the file system's own records", "they are not read as pages of the file")
	}
	return nil
}
