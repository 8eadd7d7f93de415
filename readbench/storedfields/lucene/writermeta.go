package lucene

import (
	"encoding/binary"
	"math"
)

// release is what the files say wrote them: the oldest release whose layout they have.
var release = [3]uint32{9, 12, 3}

// fieldInfos returns .fnm of a segment without its footer: fields that are stored and nothing else.
func fieldInfos(id ID, fields []string) []byte {
	p := appendHeader(nil, "Lucene94FieldInfos", 1, id, "")
	p = binary.AppendUvarint(p, uint64(len(fields)))
	for i, name := range fields {
		p = appendString(p, name)
		p = binary.AppendUvarint(p, uint64(i))
		p = append(p, 0, 0, 0)                                  // bits, index options, type of values
		p = binary.LittleEndian.AppendUint64(p, math.MaxUint64) // generation of values: none
		p = append(p, 0, 0, 0, 1, 0)                            // attributes, points, vector dimensions, their type (float), similarity
	}
	return p
}

// segmentInfo returns .si of a segment without its footer.
func segmentInfo(id ID, docs int) []byte {
	p := appendHeader(nil, "Lucene90SegmentInfo", 0, id, "")
	version := func() {
		for _, n := range release {
			p = binary.LittleEndian.AppendUint32(p, n)
		}
	}
	version()
	p = append(p, 1)
	version()
	p = binary.LittleEndian.AppendUint32(p, uint32(docs))
	p = append(p, 0xff, 0xff, 0) // no compound file, no blocks of documents, no diagnostics
	files := []string{"_0.si", "_0.fdm", "_0.fdx", "_0.fdt", "_0.fnm"}
	p = binary.AppendUvarint(p, uint64(len(files)))
	for _, f := range files {
		p = appendString(p, f)
	}
	p = append(p, 1) // attributes
	p = appendString(p, "Lucene90StoredFieldsFormat.mode")
	p = appendString(p, BestSpeed.String())
	return append(p, 0) // not sorted
}

// commit returns segments_1, of one segment, without its footer.
func commit(segment ID) []byte {
	be := binary.BigEndian
	id := segment
	id[15]++ // another one than the segment's
	p := appendHeader(nil, "segments", 10, id, "1")
	version := func() {
		for _, n := range release {
			p = binary.AppendUvarint(p, uint64(n))
		}
	}
	version()
	p = binary.AppendUvarint(p, uint64(release[0])) // release that made the index
	p = be.AppendUint64(p, 1)                       // changes
	p = binary.AppendUvarint(p, 1)                  // number of the next segment
	p = be.AppendUint32(p, 1)                       // segments
	version()
	p = appendString(p, "_0")
	p = append(p, segment[:]...)
	p = appendString(p, "Lucene912")
	p = be.AppendUint64(p, math.MaxUint64) // generation of deletions: none
	p = be.AppendUint32(p, 0)              // deletions
	p = be.AppendUint64(p, math.MaxUint64) // generation of field names: the first
	p = be.AppendUint64(p, math.MaxUint64) // generation of values: the first
	p = be.AppendUint32(p, 0)              // soft deletions
	id[15]++
	p = append(append(p, 1), id[:]...)
	p = append(p, 0)          // files of field names
	p = be.AppendUint32(p, 0) // files of values
	return append(p, 0)       // what the user attached
}
