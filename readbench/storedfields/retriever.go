package storedfields

import (
	"fmt"
	"os"
	"time"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/storedfields/lucene"
)

// window is how many documents are hinted before the first of them is read, as in the library.
const window = 16

// sampleEvery is of how many documents one is timed, with READBENCH_METRICS=all.
const sampleEvery = 16

// retriever retrieves documents for one worker.
type retriever struct {
	w      *readbench.Worker
	c      *Corpus
	st     *stats
	sample bool
	pages  int

	decoders [window]lucene.Decoder // the first alone, if documents are read one by one
	places   []place                // of the documents under way, one for each decoder
	active   []int                  // decoders that want bytes of the file that is read
	ranges   []readbench.Range      // that they want
	each     func(i int, p []byte) error
	touched  byte
	ahead    ahead
}

func newRetriever(w *readbench.Worker, c *Corpus, st *stats, sample bool) *retriever {
	r := &retriever{w: w, c: c, st: st, sample: sample, pages: os.Getpagesize(),
		active: make([]int, 0, window), ranges: make([]readbench.Range, 0, maxRanges)}
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
		if err := r.decoders[i].StartIn(nil, p.seg.Segment, p.chunk, p.local()); err != nil {
			return err
		}
	}
	if err := r.read(hint); err != nil {
		return err
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
			r.ranges = append(r.ranges, readbench.Range{Off: off, N: n})
		}
	}
	return len(r.ranges) > 0
}

// feed gives a decoder what it wanted.
func (r *retriever) feed(i int, p []byte) error {
	k := r.active[i]
	if r.sample && (r.st.docs+k)%sampleEvery == 0 {
		return r.feedTimed(&r.decoders[k], r.ranges[i].Off, p)
	}
	return r.decoders[k].Feed(r.ranges[i].Off, p)
}

// feedTimed times the decoding. The pages are touched before: what it takes to have them there is not decoding.
func (r *retriever) feedTimed(d *lucene.Decoder, off int64, p []byte) error {
	for at := 0; at < len(p); at += r.pages {
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
	if r.sample && r.st.docs%sampleEvery == 0 {
		r.st.sampled++
	}
	work := d.Work()
	r.st.docs++
	r.st.used += work.Used
	r.st.headers += work.Headers
	r.st.blocks += work.Blocks
	return nil
}
