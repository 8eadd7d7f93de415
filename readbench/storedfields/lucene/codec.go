package lucene

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/readbench/suite/internal/userfile"
)

const (
	headerMagic = 0x3fd76c17
	footerMagic = 0xc02893e8
	footerSize  = 16
	// maxHeader is more than any header of a file takes: magic, codec name of at most 127 bytes, version, id, suffix
	// of at most 255 bytes.
	maxHeader = 4 + 1 + 127 + 4 + 16 + 1 + 255
)

// ID is the random number that all files of a segment carry, so that files of two segments cannot be mixed up.
type ID [16]byte

// String returns the id as 32 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%x", id[:]) }

// codec is a codec name and the versions of it that can be read.
type codec struct {
	name     string
	min, max int
}

func (k codec) String() string {
	if k.min == k.max {
		return fmt.Sprintf("%s version %d", k.name, k.min)
	}
	return fmt.Sprintf("%s version %d to %d", k.name, k.min, k.max)
}

// header is what stands at the start of every file.
type header struct {
	codec   string
	version int
	id      ID
	suffix  string
	size    int // bytes
}

// parseHeader reads the header of a file and checks that it is one of the codecs wanted.
func parseHeader(file string, p []byte, want ...codec) (header, error) {
	c := cursor{p: p, order: binary.BigEndian}
	var h header
	magic := c.u32()
	if !c.ok() || magic != headerMagic {
		return h, unknown(file, "expected the header %08x of %v, found %x: encrypted, or not written by the library",
			headerMagic, want, p[:min(4, len(p))])
	}
	h.codec = c.str()
	h.version = int(int32(c.u32()))
	copy(h.id[:], c.take(16))
	h.suffix = string(c.take(int(c.u8())))
	h.size = c.at
	if !c.ok() {
		return h, corrupt(file, int64(c.at), "the header is cut off")
	}
	for _, k := range want {
		if k.name == h.codec && k.min <= h.version && h.version <= k.max {
			return h, nil
		}
	}
	return h, unknown(file, "codec %q version %d, expected %v", h.codec, h.version, want)
}

// part is a file, or a file inside a compound one.
type part struct {
	name string // for errors
	path string // the file on disk
	off  int64
	size int64
}

// read returns n bytes at off.
func (b part) read(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > b.size-n {
		return nil, corrupt(b.name, off, "file of %d bytes is too short for %d bytes here", b.size, n)
	}
	f, err := userfile.Open(context.Background(), b.path, userfile.Regular)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(f, b.off+off, n), p); err != nil {
		return nil, fmt.Errorf("reading %d bytes at %d of %s: %w", n, off, b.name, err)
	}
	return p, nil
}

// open opens a file of its own on disk.
func open(path string) (part, error) {
	st, err := userfile.Within(context.Background(), "looking for "+path, func() (os.FileInfo, error) { return os.Stat(path) }, nil)
	if err != nil {
		return part{}, err
	}
	if err := userfile.Check(st, userfile.Regular); err != nil {
		return part{}, unknown(path, "%v", err)
	}
	return part{name: path, path: path, size: st.Size()}, nil
}

// load reads a whole file and checks header, footer and checksum. It returns the bytes between header and footer,
// with the offset at which they start in header.size.
func (b part) load(want ...codec) (header, []byte, error) {
	p, err := b.read(0, b.size)
	if err != nil {
		return header{}, nil, err
	}
	h, err := parseHeader(b.name, p, want...)
	if err != nil {
		return h, nil, err
	}
	if len(p) < h.size+footerSize {
		return h, nil, corrupt(b.name, int64(len(p)), "the file is cut off: no room for a footer")
	}
	body := len(p) - footerSize
	sum, err := parseFooter(b.name, int64(body), p[body:])
	if err != nil {
		return h, nil, err
	}
	if got := crc32.ChecksumIEEE(p[:len(p)-8]); got != sum {
		return h, nil, corrupt(b.name, int64(len(p)-8), "checksum %08x, its contents have %08x", sum, got)
	}
	return h, p[h.size:body], nil
}

// parseFooter returns the checksum that a footer states.
func parseFooter(file string, off int64, p []byte) (uint32, error) {
	be := binary.BigEndian
	if be.Uint32(p) != footerMagic || be.Uint32(p[4:]) != 0 || be.Uint32(p[8:]) != 0 {
		return 0, corrupt(file, off, "expected the footer %08x 0, found %x: the file is cut off or damaged",
			uint32(footerMagic), p[:12])
	}
	return be.Uint32(p[12:]), nil
}

// ends checks header and footer of a file too large to be loaded, and the checksum too if full.
func (b part) ends(full bool, want ...codec) (header, error) {
	p, err := b.read(0, min(b.size, maxHeader))
	if err != nil {
		return header{}, err
	}
	h, err := parseHeader(b.name, p, want...)
	if err != nil {
		return h, err
	}
	if b.size < int64(h.size)+footerSize {
		return h, corrupt(b.name, b.size, "the file is cut off: no room for a footer")
	}
	foot, err := b.read(b.size-footerSize, footerSize)
	if err != nil {
		return h, err
	}
	sum, err := parseFooter(b.name, b.size-footerSize, foot)
	if err != nil || !full {
		return h, err
	}
	f, err := userfile.Open(context.Background(), b.path, userfile.Regular)
	if err != nil {
		return h, err
	}
	defer f.Close()
	crc := crc32.NewIEEE()
	n, err := io.CopyBuffer(onlyWriter{crc}, io.NewSectionReader(f, b.off, b.size-8), make([]byte, 1<<20))
	if err != nil {
		return h, fmt.Errorf("reading %s for its checksum: %w", b.name, err)
	}
	if n != b.size-8 {
		return h, corrupt(b.name, n, "the file became shorter while it was read")
	}
	if got := crc.Sum32(); got != sum {
		return h, corrupt(b.name, b.size-8, "checksum %08x, its contents have %08x", sum, got)
	}
	return h, nil
}

// onlyWriter hides everything but Write, so that io.CopyBuffer uses its buffer.
type onlyWriter struct{ io.Writer }

func (h header) sameSegment(file string, id ID) error {
	if h.id != id {
		return corrupt(file, 0, "belongs to segment %v, expected %v: files of two segments are mixed up", h.id, id)
	}
	return nil
}

// appendHeader appends the header of a file; suffix is at most 255 bytes.
func appendHeader(p []byte, name string, version int, id ID, suffix string) []byte {
	p = binary.BigEndian.AppendUint32(p, headerMagic)
	p = appendString(p, name)
	p = binary.BigEndian.AppendUint32(p, uint32(version))
	p = append(p, id[:]...)
	p = append(p, byte(len(suffix)))
	return append(p, suffix...)
}

// appendFooter appends the footer of a file whose contents so far have the checksum crc.
func appendFooter(p []byte, crc uint32) []byte {
	foot := binary.BigEndian.AppendUint32(nil, footerMagic)
	foot = binary.BigEndian.AppendUint32(foot, 0)
	sum := crc32.Update(crc, crc32.IEEETable, foot)
	return binary.BigEndian.AppendUint64(append(p, foot...), uint64(sum))
}

func appendString(p []byte, s string) []byte {
	return append(binary.AppendUvarint(p, uint64(len(s))), s...)
}
