package lucene

// A compound file (.cfs) holds a segment's other files, of which its table (.cfe) says where they are.

import (
	"encoding/binary"
	"path/filepath"
)

// openCompound reads the table of a compound file and returns a function that finds the files in it.
func openCompound(dir string, s *Segment) (func(ext string) (part, error), error) {
	table, err := open(filepath.Join(dir, s.Name+".cfe"))
	if err != nil {
		return nil, err
	}
	data, err := open(filepath.Join(dir, s.Name+".cfs"))
	if err != nil {
		return nil, err
	}
	h, body, err := table.load(codec{"Lucene90CompoundEntries", 0, 0}, codec{"Lucene50CompoundEntries", 0, 0})
	if err != nil {
		return nil, err
	}
	order := binary.ByteOrder(binary.LittleEndian)
	dataCodec := codec{"Lucene90CompoundData", 0, 0}
	if h.codec == "Lucene50CompoundEntries" {
		order = binary.BigEndian
		dataCodec.name = "Lucene50CompoundData"
	}
	if err := h.sameSegment(table.name, s.ID); err != nil {
		return nil, err
	}
	// The checksum of the whole .cfs is not read even if all is checked: each file in it has one of its own.
	dh, err := data.ends(false, dataCodec)
	if err != nil {
		return nil, err
	}
	if err := dh.sameSegment(data.name, s.ID); err != nil {
		return nil, err
	}
	c := cursor{p: body, order: order}
	parts := map[string]part{}
	for n := c.vInt(); n > 0 && c.ok(); n-- {
		at := int64(h.size + c.at)
		name := c.str()
		off, size := int64(c.u64()), int64(c.u64())
		if !c.ok() || off < int64(dh.size) || size < 0 || off > data.size-footerSize-size {
			return nil, corrupt(table.name, at, "entry %q: %d bytes at %d of a file of %d bytes", name, size, off, data.size)
		}
		parts[name] = part{name: data.name + "(" + name + ")", path: data.path, off: off, size: size}
	}
	if !c.ok() || c.at != len(body) {
		return nil, corrupt(table.name, int64(h.size+c.at), "the table of files cannot be read to its end")
	}
	return func(ext string) (part, error) {
		p, found := parts[ext]
		if !found {
			return part{}, corrupt(table.name, -1, "no entry %q, which every segment has", ext)
		}
		return p, nil
	}, nil
}
