package lucene

import (
	"encoding/binary"
	"fmt"
)

// What the library's own writer has with BEST_SPEED.
const (
	ChunkSize    = 81920 // raw bytes at which a chunk is closed, and of a slice
	MaxChunkDocs = 1024  // documents at which a chunk is closed
	subBlocks    = 10
	maxDict      = 1<<16 - 1
	dictShare    = 20 // the dictionary is this part of a run
)

// A ChunkBuilder makes chunks in the 9.0 layout with LZ4. Builders are independent of each other, so chunks can be made
// in parallel and written in order. The zero ChunkBuilder is ready for use; it is not safe for concurrent use.
type ChunkBuilder struct {
	raw    []byte
	counts []int32
	sizes  []int32
	enc    blockEncoder
	block  []byte // dictionary and a sub-block
	parts  []byte // compressed parts of a run
}

// Add adds a document (see AppendField) of that many fields. It keeps no reference to it. It fails if the chunk is
// full, or would have 2 GiB or more.
func (b *ChunkBuilder) Add(doc []byte, fields int) error {
	if b.Full() {
		return fmt.Errorf("lucene: adding a document to a chunk of %d bytes and %d documents, which is full",
			len(b.raw), len(b.sizes))
	}
	if len(doc) > 1<<31-1-len(b.raw) || fields < 0 || fields > 1<<31-1 {
		return fmt.Errorf("lucene: a document of %d bytes and %d fields does not fit into a chunk", len(doc), fields)
	}
	b.raw = append(b.raw, doc...)
	b.sizes = append(b.sizes, int32(len(doc)))
	b.counts = append(b.counts, int32(fields))
	return nil
}

// Docs returns the number of documents added.
func (b *ChunkBuilder) Docs() int { return len(b.sizes) }

// Full tells whether the chunk must be closed before another document is added.
func (b *ChunkBuilder) Full() bool { return len(b.raw) >= ChunkSize || len(b.sizes) >= MaxChunkDocs }

// AppendChunk appends the chunk of the documents added to dst and empties the builder. docBase is the number of its
// first document in the segment. A chunk that is closed before it is full is marked dirty, as the library does.
// Without documents it appends nothing.
func (b *ChunkBuilder) AppendChunk(dst []byte, docBase int) []byte {
	if len(b.sizes) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(docBase))
	token := uint64(len(b.sizes)) << 2
	if !b.Full() {
		token |= 2
	}
	sliced := len(b.raw) >= 2*ChunkSize
	if sliced {
		token |= 1
	}
	dst = binary.AppendUvarint(dst, token)
	dst = appendInts(dst, b.counts)
	dst = appendInts(dst, b.sizes)
	if sliced {
		for from := 0; from < len(b.raw); from += ChunkSize {
			dst = b.appendRun(dst, b.raw[from:min(from+ChunkSize, len(b.raw))])
		}
	} else {
		dst = b.appendRun(dst, b.raw)
	}
	b.raw, b.sizes, b.counts = b.raw[:0], b.sizes[:0], b.counts[:0]
	return dst
}

// appendRun compresses raw into a dictionary and ten sub-blocks; fewer if there is not a byte for each.
func (b *ChunkBuilder) appendRun(dst, raw []byte) []byte {
	dict := min(maxDict, len(raw)/dictShare)
	size := (len(raw) - dict + subBlocks - 1) / subBlocks
	dst = binary.AppendUvarint(dst, uint64(dict))
	dst = binary.AppendUvarint(dst, uint64(size))

	b.enc.setDict(nil)
	b.parts = b.enc.append(b.parts[:0], raw[:dict], 0)
	dst = binary.AppendUvarint(dst, uint64(len(b.parts)))
	b.enc.setDict(raw[:dict])
	b.block = append(b.block[:0], raw[:dict]...)
	for from := dict; from < len(raw); from += size {
		b.block = append(b.block[:dict], raw[from:min(from+size, len(raw))]...)
		before := len(b.parts)
		b.parts = b.enc.append(b.parts, b.block, dict)
		dst = binary.AppendUvarint(dst, uint64(len(b.parts)-before))
	}
	return append(dst, b.parts...)
}
