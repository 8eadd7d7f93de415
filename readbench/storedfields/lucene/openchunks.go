package lucene

// How chunks are found at open: .fdm and .fdx say where each of them begins.

import "encoding/binary"

// maxChunkDocs is far above the documents that the library puts in one chunk (1024 with LZ4, 4096 with DEFLATE); it
// bounds what a damaged index can make a Decoder allocate.
const maxChunkDocs = 1 << 16

// minChunkBytes is less than any chunk takes: first document, token, fields, lengths, a byte each.
const minChunkBytes = 4

// openChunks reads .fdm and .fdx and checks the ends of .fdt.
func (s *Segment) openChunks(find func(string) (part, error), check Check) error {
	data, err := find(".fdt")
	if err != nil {
		return err
	}
	s.DataFile, s.DataSize, s.name, s.dataOff = data.path, data.size, data.name, data.off
	h, err := data.ends(check == CheckFull,
		codec{"Lucene90StoredFieldsFastData", 1, 1}, codec{"Lucene90StoredFieldsHighData", 1, 1},
		codec{"Lucene87StoredFieldsFastData", 3, 4}, codec{"Lucene87StoredFieldsHighData", 3, 4})
	if err != nil {
		return err
	}
	if err := h.sameSegment(data.name, s.ID); err != nil {
		return err
	}
	metaCodec, indexCodec := codec{"Lucene90FieldsIndexMeta", 1, 1}, codec{"Lucene90FieldsIndexIdx", 0, 0}
	s.layout = layout{order: binary.LittleEndian, dirtyBit: true}
	switch h.codec {
	case "Lucene87StoredFieldsFastData", "Lucene87StoredFieldsHighData":
		metaCodec, indexCodec = codec{"Lucene85FieldsIndexMeta", h.version, h.version}, codec{"Lucene85FieldsIndexIdx", 0, 0}
		s.layout = layout{order: binary.BigEndian, old: true, dirtyBit: h.version >= 4}
	}
	if h.codec == "Lucene90StoredFieldsHighData" || h.codec == "Lucene87StoredFieldsHighData" {
		s.Mode = BestCompression
	}

	index, err := find(".fdx")
	if err != nil {
		return err
	}
	ih, packed, err := index.load(indexCodec)
	if err != nil {
		return err
	}
	if err := ih.sameSegment(index.name, s.ID); err != nil {
		return err
	}
	meta, err := find(".fdm")
	if err != nil {
		return err
	}
	mh, body, err := meta.load(metaCodec)
	if err != nil {
		return err
	}
	if err := mh.sameSegment(meta.name, s.ID); err != nil {
		return err
	}
	m := monotonics{meta: meta.name, metaOff: mh.size, index: index.name, packed: packed, packedOff: int64(ih.size),
		old: s.layout.old, c: cursor{p: body, order: s.layout.order}}
	return s.readChunks(&m, int64(h.size))
}

// readChunks fills in bases and pointers; data is the offset of the first chunk.
func (s *Segment) readChunks(m *monotonics, data int64) error {
	c := &m.c
	s.layout.chunkSize = c.vInt()
	if s.layout.old {
		if v := c.vInt(); c.ok() && v != 2 {
			return unknown(m.meta, "packed values version %d, expected 2", v)
		}
	}
	docs, shift, n := int(int32(c.u32())), int(int32(c.u32())), int(int32(c.u32()))
	if !c.ok() || s.layout.chunkSize < 1 {
		return m.bad("cut off, or a chunk size of %d bytes", s.layout.chunkSize)
	}
	if docs != s.Docs {
		return m.bad("%d documents, the segment has %d", docs, s.Docs)
	}
	if shift < 2 || shift > 22 {
		return m.bad("2^%d values in an entry, expected 2^2 to 2^22", shift)
	}
	// Every chunk has a document, and bytes in .fdt: a count that does not fit is caught before anything is made.
	if n < 1 || n-1 > s.Docs || int64(n-1) > s.DataSize/minChunkBytes {
		return m.bad("%d chunks do not fit %d documents in %d bytes", n-1, s.Docs, s.DataSize)
	}
	bases, err := m.values(n, shift)
	if err != nil {
		return err
	}
	if s.pointers, err = m.values(n, shift); err != nil {
		return err
	}
	if e := int64(c.u64()); c.ok() && e != m.packedOff+int64(len(m.packed)) {
		return m.bad("the values end at %d, in %s at %d", e, m.index, m.packedOff+int64(len(m.packed)))
	}
	end := int64(c.u64())
	if !c.ok() || end != s.DataSize-footerSize {
		return m.bad("the data end at %d, the file of the data has %d bytes and a footer of %d", end, s.DataSize, footerSize)
	}
	if s.layout.dirtyBit {
		c.uvar(10) // chunks, which 8.7 and 8.8 leave out
	}
	c.uvar(10) // dirty chunks
	c.uvar(10) // dirty documents
	if !c.ok() || c.at != len(c.p) {
		return m.bad("its numbers end here, the file at %d", m.metaOff+len(c.p))
	}
	s.bases = make([]int32, n)
	for i, v := range bases {
		if v < 0 || v > int64(s.Docs) || i > 0 && (v <= bases[i-1] || v > bases[i-1]+maxChunkDocs) {
			return corrupt(m.index, -1, "chunk %d starts at document %d of %d, the one before it at %d",
				i, v, s.Docs, bases[max(i-1, 0)])
		}
		s.bases[i] = int32(v)
	}
	for i, v := range s.pointers {
		if v > end || i > 0 && v < s.pointers[i-1]+minChunkBytes {
			return corrupt(m.index, -1, "chunk %d is at offset %d of %d, the one before it at %d",
				i, v, end, s.pointers[max(i-1, 0)])
		}
	}
	if bases[0] != 0 || bases[n-1] != int64(s.Docs) || s.pointers[0] != data || s.pointers[n-1] != end {
		return corrupt(m.index, -1, "documents %d to %d at %d to %d, expected 0 to %d at %d to %d",
			bases[0], bases[n-1], s.pointers[0], s.pointers[n-1], s.Docs, data, end)
	}
	return nil
}
