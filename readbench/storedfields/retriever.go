package storedfields

import (
	"fmt"
	"os"
	"time"

	"github.com/readbench/suite/readbench/storedfields/lucene"
	"github.com/readbench/suite/readbench/strategy"
)

// window is how many documents are hinted before the first of them is read, as in the library.
const window = 16

// maxRanges is how many ranges there are to hint for a window of documents at the most.
const maxRanges = window * lucene.MaxSpans

// sampleEvery: with READBENCH_METRICS=all decoding is timed if the number of documents so far is a multiple of it: one
// document of 16, or all that are read together with it.
const sampleEvery = 16

// source is what bytes come from: a readbench.Worker.
type source interface {
	Fetch(file int, rs []strategy.Range, each func(i int, p []byte) error) error
	Prefetch(file int, rs []strategy.Range) error
}

// retriever retrieves documents for one worker.
type retriever struct {
	w      source
	c      *Corpus
	st     *stats
	sample bool
	page   int64

	decoders [window]lucene.Decoder // the first alone, if documents are read one by one
	kept     [window]kept           // of each
	places   []place                // of the documents under way, one for each decoder
	active   []int                  // decoders that want bytes of the file that is read
	ranges   []strategy.Range       // that they want
	each     func(i int, p []byte) error
	touched  byte
	ahead    ahead
}

func newRetriever(w source, c *Corpus, st *stats, sample bool) *retriever {
	r := &retriever{w: w, c: c, st: st, sample: sample, page: int64(os.Getpagesize()),
		active: make([]int, 0, window), ranges: make([]strategy.Range, 0, maxRanges)}
	r.each = r.feed
	r.ahead.forget()
	return r
}

// oneByOne retrieves documents one after the other.
func (r *retriever) oneByOne(places []place) error {
	for i := range places {
		if err := r.together(places[i:i+1], false); err != nil {
			return err
		}
	}
	return nil
}

// together retrieves up to window documents: what all of them want next is read in one go, and hinted before if hint says
// so, until none wants any more.
func (r *retriever) together(places []place, hint bool) error {
	r.places = places
	for i := range places {
		p := &places[i]
		r.kept[i].data = r.kept[i].data[:0]
		if err := r.decoders[i].StartIn(nil, p.seg.Segment, p.chunk, p.local()); err != nil {
			return err
		}
	}
	if err := r.read(hint); err != nil {
		return err
	}
	if r.sample && r.st.docs%sampleEvery == 0 {
		r.st.sampled += len(places)
	}
	for i := range places {
		if err := r.finish(&r.decoders[i], &places[i]); err != nil {
			return err
		}
	}
	return nil
}

// read reads what the decoders of the documents under way want.
func (r *retriever) read(hint bool) error {
	for file := range r.c.Files {
		for r.wanted(file) {
			if hint {
				if err := r.w.Prefetch(file, r.ranges); err != nil {
					return err
				}
			}
			r.st.reads += len(r.ranges)
			if err := r.w.Fetch(file, r.ranges, r.each); err != nil {
				return err
			}
		}
	}
	return nil
}

// wanted gathers what is wanted next of a file, and reports whether there is anything.
func (r *retriever) wanted(file int) bool {
	r.active, r.ranges = r.active[:0], r.ranges[:0]
	for i := range r.places {
		if r.places[i].seg.file != file {
			continue
		}
		if off, n := r.decoders[i].Want(); n > 0 {
			r.active = append(r.active, i)
			r.ranges = append(r.ranges, r.still(i, off, off+int64(n)))
		}
	}
	return len(r.ranges) > 0
}

// kept is what was read of a document beyond what its decoder has used, to the end of a page: so no page is read twice for
// it, not by direct reads either, and the pages that the core counts are those that it takes.
type kept struct {
	off  int64
	data []byte
}

// still returns what is to be read of the bytes from an offset to below another: what is not kept, and if the document goes
// on behind it, to the end of the page, or of the chunk.
func (r *retriever) still(i int, from, to int64) strategy.Range {
	if !r.decoders[i].Ends() {
		k := &r.places[i].chunk
		to = min((to+r.page-1)&^(r.page-1), k.Offset+k.Length)
	}
	if n := len(r.kept[i].data); n > 0 {
		from += int64(n)
	}
	return strategy.Range{Off: from, N: int(to - from)}
}

// feed gives a decoder what it wanted, and keeps what it does not use.
func (r *retriever) feed(i int, p []byte) error {
	d, k, off := &r.decoders[r.active[i]], &r.kept[r.active[i]], r.ranges[i].Off
	if len(k.data) > 0 {
		k.data = append(k.data, p...)
		off, p = k.off, k.data
	}
	if err := r.decode(d, off, p); err != nil {
		return err
	}
	next, n := d.Want()
	if at := next - off; n > 0 && at >= 0 && at < int64(len(p)) {
		k.off, k.data = next, append(k.data[:0], p[at:]...)
	} else {
		k.data = k.data[:0]
	}
	return nil
}

// decode feeds a decoder, and takes the time of some documents. Their pages are touched before: what it takes to have them
// there is not decoding.
func (r *retriever) decode(d *lucene.Decoder, off int64, p []byte) error {
	if !r.sample || r.st.docs%sampleEvery != 0 {
		return d.Feed(off, p)
	}
	for at := 0; at < len(p); at += int(r.page) {
		r.touched += p[at]
	}
	r.touched += p[len(p)-1]
	start := time.Now()
	err := d.Feed(off, p)
	r.st.decode += time.Since(start)
	return err
}

// finish takes a document that is complete, checks it, and counts what it took.
func (r *retriever) finish(d *lucene.Decoder, p *place) error {
	doc, _ := d.Document()
	var f lucene.Field
	fields := d.Fields()
	for fields.Next(&f) {
	}
	if err := fields.Err(); err != nil {
		return fmt.Errorf("document %d of %s: %w", p.doc, r.c.Index.Dir, err)
	}
	if r.c.sums != nil {
		if got, want := sum(doc), r.c.sums[p.doc]; got != want {
			return fmt.Errorf("document %d of %s: %d bytes with the checksum %08x, expected %08x", p.doc, r.c.Index.Dir, len(doc), got, want)
		}
	}
	work := d.Work()
	r.st.docs++
	r.st.used += work.Used
	r.st.headers += work.Headers
	r.st.blocks += work.Blocks
	return nil
}
