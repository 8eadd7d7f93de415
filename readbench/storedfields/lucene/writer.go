package lucene

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"math"
	"math/bits"
	"os"
	"path/filepath"
)

// A Writer writes an index of one segment with nothing but stored fields, in the layout of release 9.12, which 9.12 and
// 10 read. Chunks come from a ChunkBuilder. It is not safe for concurrent use.
type Writer struct {
	dir      string
	fields   []string
	id       ID
	f        *os.File
	buf      *bufio.Writer
	crc      hash.Hash32
	off      int64
	bases    []int64
	pointers []int64
	docs     int
	dirty    int // chunks that were not full
	dirtyDoc int
}

// maxDocs is the most documents that the library takes in an index.
const maxDocs = 1<<31 - 129

// Create makes the directory if it is not there, and starts an index in it whose field number i has the name fields[i].
// It fails if the directory holds one already.
func Create(dir string, fields ...string) (*Writer, error) {
	var id ID
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	return create(dir, id, fields)
}

func create(dir string, id ID, fields []string) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if _, _, err := newest(dir); err == nil {
		return nil, fmt.Errorf("%s: holds an index already; remove it first", dir)
	}
	f, err := os.Create(filepath.Join(dir, "_0.fdt"))
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, fields: fields, id: id, f: f, buf: bufio.NewWriterSize(f, 1<<20), crc: crc32.NewIEEE()}
	return w, w.write(appendHeader(nil, "Lucene90StoredFieldsFastData", 1, id, ""))
}

func (w *Writer) write(p []byte) error {
	w.crc.Write(p)
	w.off += int64(len(p))
	_, err := w.buf.Write(p)
	return err
}

// Docs returns the documents written so far, which is the docBase of the next chunk.
func (w *Writer) Docs() int { return w.docs }

// WriteChunk writes a chunk that AppendChunk made with the docBase that is due (see Docs), and of which it must have
// the number of documents and whether it is full right; it fails if they are not.
func (w *Writer) WriteChunk(chunk []byte) error {
	c := cursor{p: chunk}
	base, token := c.vInt(), c.vInt()
	docs := token >> 2
	if !c.ok() || docs == 0 || base != w.docs {
		return fmt.Errorf("%s: a chunk of %d documents that starts at %d, expected one that starts at %d",
			w.f.Name(), docs, base, w.docs)
	}
	if docs > maxDocs-w.docs {
		return fmt.Errorf("%s: more than %d documents", w.f.Name(), maxDocs)
	}
	w.bases = append(w.bases, int64(base))
	w.pointers = append(w.pointers, w.off)
	if token&2 != 0 {
		w.dirty++
		w.dirtyDoc += docs
	}
	w.docs += docs
	return w.write(chunk)
}

// Abort closes the data file and leaves a directory without a commit, which Open refuses.
func (w *Writer) Abort() error { return w.f.Close() }

// Close ends the data file and writes all others, the commit last. Whatever fails leaves a directory without a commit.
// The files' contents are on the device when it returns; their names in the directory may not be yet.
func (w *Writer) Close() error {
	w.bases = append(w.bases, int64(w.docs))
	w.pointers = append(w.pointers, w.off)
	_, err := w.buf.Write(appendFooter(nil, w.crc.Sum32()))
	if err == nil {
		err = w.buf.Flush()
	}
	if err == nil {
		err = w.f.Sync()
	}
	if err := errors.Join(err, w.f.Close()); err != nil {
		return err
	}
	index, meta := w.index()
	for _, file := range []struct {
		name string
		p    []byte
	}{{"_0.fdx", index}, {"_0.fdm", meta}, {"_0.fnm", fieldInfos(w.id, w.fields)},
		{"_0.si", segmentInfo(w.id, w.docs)}, {"pending_segments_1", commit(w.id)}} {
		if err := writeFile(filepath.Join(w.dir, file.name), appendFooter(file.p, crc32.ChecksumIEEE(file.p))); err != nil {
			return err
		}
	}
	return os.Rename(filepath.Join(w.dir, "pending_segments_1"), filepath.Join(w.dir, "segments_1"))
}

func writeFile(path string, p []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(p)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

const blockShift = 10 // 2^blockShift values have one entry

// index returns .fdx and .fdm without their footers.
func (w *Writer) index() (index, meta []byte) {
	le := binary.LittleEndian
	index = appendHeader(nil, "Lucene90FieldsIndexIdx", 0, w.id, "")
	meta = appendHeader(nil, "Lucene90FieldsIndexMeta", 1, w.id, "")
	meta = binary.AppendUvarint(meta, ChunkSize)
	meta = le.AppendUint32(meta, uint32(w.docs))
	meta = le.AppendUint32(meta, blockShift)
	meta = le.AppendUint32(meta, uint32(len(w.bases)))
	for _, v := range [][]int64{w.bases, w.pointers} {
		meta = le.AppendUint64(meta, uint64(len(index)))
		index, meta = appendMonotonic(index, meta, v)
	}
	meta = le.AppendUint64(meta, uint64(len(index)))
	meta = le.AppendUint64(meta, uint64(w.off))
	meta = binary.AppendUvarint(meta, uint64(len(w.bases)-1))
	meta = binary.AppendUvarint(meta, uint64(w.dirty))
	return index, binary.AppendUvarint(meta, uint64(w.dirtyDoc))
}

// appendMonotonic appends an array to .fdx and its entries to .fdm: each value is what it is above a straight line.
func appendMonotonic(index, meta []byte, v []int64) ([]byte, []byte) {
	le := binary.LittleEndian
	start := len(index)
	deltas := make([]uint64, 0, 1<<blockShift)
	for len(v) > 0 {
		n := min(len(v), 1<<blockShift)
		avg := float32(float64(v[n-1]-v[0]) / float64(max(1, n-1)))
		low := int64(math.MaxInt64)
		for i, x := range v[:n] {
			low = min(low, x-int64(float32(avg*float32(i))))
		}
		deltas = deltas[:0]
		var all uint64
		for i, x := range v[:n] {
			deltas = append(deltas, uint64(x-int64(float32(avg*float32(i)))-low))
			all |= deltas[i]
		}
		meta = le.AppendUint64(meta, uint64(low))
		meta = le.AppendUint32(meta, math.Float32bits(avg))
		meta = le.AppendUint64(meta, uint64(len(index)-start))
		width := 0
		for _, k := range packedWidths {
			if width = k; k >= bits.Len64(all) {
				break
			}
		}
		meta = append(meta, byte(width))
		index = appendPacked(index, deltas, width)
		v = v[n:]
	}
	return index, meta
}

// appendPacked appends values of width bits, low bits first, and as many bytes more as let the library read the last one
// as a whole number of 2, 4 or 8 bytes.
func appendPacked(dst []byte, v []uint64, width int) []byte {
	if width == 0 {
		return dst
	}
	var word uint64
	have := 0
	for _, x := range v {
		for left := width; left > 0; {
			take := min(left, 8-have)
			word |= x & (1<<take - 1) << have
			x >>= take
			left -= take
			if have += take; have == 8 {
				dst = append(dst, byte(word))
				word, have = 0, 0
			}
		}
	}
	if have > 0 {
		dst = append(dst, byte(word))
	}
	whole := 8
	for whole < width {
		whole *= 2
	}
	if width < 8 {
		whole = width
	}
	return append(dst, make([]byte, (whole-width+7)/8)...)
}
