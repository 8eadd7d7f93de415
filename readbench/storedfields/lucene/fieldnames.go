package lucene

import "encoding/binary"

// openFields reads the names of a segment's fields from its .fnm.
func (s *Segment) openFields(find func(string) (part, error)) error {
	f, err := find(".fnm")
	if err != nil {
		return err
	}
	h, body, err := f.load(codec{"Lucene94FieldInfos", 0, 2}, codec{"Lucene90FieldInfos", 0, 0},
		codec{"Lucene60FieldInfos", 2, 2})
	if err != nil {
		return err
	}
	if err := h.sameSegment(f.name, s.ID); err != nil {
		return err
	}
	c := cursor{p: body, order: binary.BigEndian} // its fixed-length numbers are all skipped
	s.fields = map[int]string{}
	for n := c.vInt(); n > 0 && c.ok(); n-- {
		at := int64(h.size + c.at)
		name := c.str()
		number := c.vInt()
		c.take(3) // bits, index options, type of values
		if h.codec == "Lucene94FieldInfos" && h.version >= 2 {
			c.u8() // skip index of values
		}
		c.u64()                     // generation of values
		c.skipStrings(2 * c.vInt()) // attributes
		if c.vInt() > 0 {           // point dimensions
			c.vInt()
			c.vInt()
		}
		switch h.codec {
		case "Lucene94FieldInfos":
			c.vInt()  // vector dimensions
			c.take(2) // vector encoding, similarity
		case "Lucene90FieldInfos":
			c.vInt()
			c.u8()
		}
		if _, twice := s.fields[number]; twice || !c.ok() {
			return corrupt(f.name, at, "field %q, number %d cannot be read or has a number twice", name, number)
		}
		s.fields[number] = name
	}
	if !c.ok() || c.at != len(body) {
		return corrupt(f.name, int64(h.size+c.at), "the list of fields ends here, the file at %d", h.size+len(body))
	}
	return nil
}

// FieldName returns the name of the field with that number, and whether the segment has such a field.
func (s *Segment) FieldName(number int) (string, bool) {
	name, found := s.fields[number]
	return name, found
}
