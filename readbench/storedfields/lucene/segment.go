package lucene

import "encoding/binary"

// A Segment is one segment of an index. It is never changed after Open and safe for concurrent use.
type Segment struct {
	Name    string // for instance "_0"
	ID      ID
	Codec   string // the library's name of the whole segment's codec, for instance "Lucene104"
	Mode    Mode
	Docs    int   // documents, deleted ones included
	Deleted int   // documents marked deleted; their fields are still there
	DocBase int64 // documents of all segments before this one

	DataFile string // path of the file that holds the data: .fdt, or .cfs if the segment is a compound one
	DataSize int64  // bytes of the .fdt, header and footer included

	name     string // of the .fdt, for errors
	dataOff  int64  // where the .fdt starts in DataFile
	layout   layout
	fields   map[int]string
	bases    []int32 // first document of each chunk, then Docs
	pointers []int64 // offset in .fdt of each chunk, then the end of the last
}

// Mode is how a segment's stored fields are compressed.
type Mode int

// The modes, which have the library's names.
const (
	BestSpeed       Mode = iota // LZ4
	BestCompression             // DEFLATE
)

// String returns the library's name of the mode.
func (m Mode) String() string {
	if m == BestSpeed {
		return "BEST_SPEED"
	}
	return "BEST_COMPRESSION"
}

// layout is what differs between the releases in .fdx and .fdt.
type layout struct {
	order     binary.ByteOrder
	old       bool // 8.x: numbers big-endian, packed values most significant bit first, lengths packed bit by bit
	dirtyBit  bool // the token has the dirty bit
	chunkSize int  // bytes of raw data at which a chunk is closed, and of a slice
}
