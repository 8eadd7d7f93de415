package storedfields

// Hinting what documents need, before any of them is read.

import "github.com/readbench/suite/readbench/strategy"

// hintBlocks hints the chunks of up to window documents, as wholes.
func (r *retriever) hintBlocks(places []place) error {
	return r.hint(places, func(_ int, p *place) {
		if r.ahead.remember(p.id()) {
			r.add(p.chunk.Offset, p.chunk.Offset+p.chunk.Length)
		}
	})
}

// hintSpans hints of up to window documents what they need and no more: first where headers and dictionaries are, then, when
// the headers were read, the sub-blocks.
func (r *retriever) hintSpans(places []place) error {
	err := r.hint(places, func(_ int, p *place) { r.add(p.chunk.Offset, p.seg.DictionaryEnd(p.chunk)) })
	if err != nil {
		return err
	}
	r.places = places
	for i := range places {
		p := &places[i]
		r.kept[i].data = r.kept[i].data[:0]
		if err := r.decoders[i].Peek(nil, p.seg.Segment, p.chunk, p.local()); err != nil {
			return err
		}
	}
	if err := r.read(false); err != nil {
		return err
	}
	return r.hint(places, func(i int, p *place) {
		r.ahead.spans = r.decoders[i].Spans(r.ahead.spans[:0], p.local())
		for _, s := range r.ahead.spans {
			r.add(max(s.Off, p.seg.DictionaryEnd(p.chunk)), s.Off+int64(s.N))
		}
	})
}

// hint has add called for each document, and hints what that adds, file by file.
func (r *retriever) hint(places []place, add func(i int, p *place)) error {
	for file := range r.c.Files {
		r.ranges = r.ranges[:0]
		for i := range places {
			if places[i].seg.file == file {
				add(i, &places[i])
			}
		}
		if len(r.ranges) == 0 {
			continue
		}
		if err := r.w.Prefetch(file, r.ranges); err != nil {
			return err
		}
	}
	return nil
}

// add adds the bytes from an offset to below another to the ranges to hint, if there are any.
func (r *retriever) add(from, to int64) {
	if from < to {
		r.ranges = append(r.ranges, strategy.Range{Off: from, N: int(to - from)})
	}
}
