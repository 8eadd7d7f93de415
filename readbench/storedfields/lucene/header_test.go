package lucene

import (
	"math/rand/v2"
	"testing"
)

// fetchIn is fetch with a header of the caller's, and returns what was wanted, side by side as one.
func fetchIn(t *testing.T, start func() error, d *Decoder, file []byte) (wanted []Span) {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	for {
		off, n := d.Want()
		if n == 0 {
			return wanted
		}
		if last := len(wanted) - 1; last >= 0 && wanted[last].Off+int64(wanted[last].N) == off {
			wanted[last].N += n
		} else {
			wanted = append(wanted, Span{off, n})
		}
		if err := d.Feed(off, file[off:off+int64(n):off+int64(n)]); err != nil {
			t.Fatal(err)
		}
	}
}

// What Spans tells once a header is known is what the decoder then wants, no byte more or less; in sliced chunks and with
// DEFLATE, where that cannot be told, it holds all that is wanted.
func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	var random, lines [][]byte
	for range 100 {
		random = append(random, noise(r, 4096))
	}
	for range 2000 {
		lines = append(lines, text(r, r.IntN(400)))
	}
	random = append(random, nil, noise(r, 1))
	type index struct {
		name  string
		s     *Segment
		file  []byte
		exact bool
	}
	var all []index
	for _, c := range []struct {
		name  string
		exact bool
	}{{"10.6/tiny", true}, {"10.6/segments", true}, {"10.6/compound", true}, {"10.6/mixed", false}, {"8.7/big", false}, {"10.6/best-compression", false}} {
		s, file := openGolden(t, c.name)
		all = append(all, index{c.name, s, file, c.exact})
	}
	s, file := build(t, random, false)
	all = append(all, index{"random", s, file, true})
	s, file = build(t, lines, false)
	all = append(all, index{"lines", s, file, true})
	for _, x := range all {
		var d Decoder
		headers := make([]Header, x.s.Chunks())
		step := 1
		if x.s.Mode == BestCompression {
			step = 7 // DEFLATE is slow, above all with the race detector
		}
		for doc := 0; doc < x.s.Docs; doc += step {
			k, err := x.s.Chunk(doc)
			if err != nil {
				t.Fatal(err)
			}
			h := &headers[k.Index]
			if known := h.Spans(nil, doc); h.run.head == 0 && len(known) > 0 && !h.parsed {
				t.Fatalf("%s: document %d has spans %v before its header was read", x.name, doc, known)
			}
			head := fetchIn(t, func() error { return d.Peek(h, x.s, k, doc) }, &d, x.file)
			if doc > k.DocBase && x.exact && len(head) > 0 && h.header.starts[doc-k.DocBase] > 0 {
				t.Fatalf("%s: document %d: the header of chunk %d is read again: %v", x.name, doc, k.Index, head)
			}
			spans := h.Spans(nil, doc)
			wanted := fetchIn(t, func() error { return d.StartIn(h, x.s, k, doc) }, &d, x.file)
			if len(spans) > MaxSpans {
				t.Fatalf("%s: document %d: %d spans", x.name, doc, len(spans))
			}
			for _, w := range wanted {
				if !covered(w, spans) {
					t.Fatalf("%s: document %d wants %v, the spans are %v", x.name, doc, wanted, spans)
				}
			}
			for _, s := range spans {
				if s.Off < k.Offset || s.N < 1 || s.Off+int64(s.N) > k.Offset+k.Length || x.exact && !covered(s, wanted) {
					t.Fatalf("%s: document %d has the spans %v of chunk %+v, and wants %v", x.name, doc, spans, k, wanted)
				}
			}
		}
	}
}

func covered(s Span, by []Span) bool {
	for _, b := range by {
		if b.Off <= s.Off && s.Off+int64(s.N) <= b.Off+int64(b.N) {
			return true
		}
	}
	return false
}

// A header belongs to one chunk: with another one it is read anew; a document of another chunk is refused.
func TestHeaderOfAnotherChunk(t *testing.T) {
	s, file := openGolden(t, "10.6/mixed")
	var d Decoder
	var h Header
	for _, i := range []int{0, 2, 0, 1} {
		k := s.ChunkAt(i)
		doc := k.DocBase + k.Docs - 1
		if wanted := fetchIn(t, func() error { return d.StartIn(&h, s, k, doc) }, &d, file); wanted[0].Off != k.Offset {
			t.Errorf("chunk %d: wants %v, and not its header at %d", i, wanted, k.Offset)
		}
		if h.Chunk() != k {
			t.Errorf("the header is that of %+v, want %+v", h.Chunk(), k)
		}
		if err := d.StartIn(&h, s, k, k.DocBase+k.Docs); err == nil {
			t.Error("takes a document of the next chunk")
		}
	}
}

// Of a document that ends in a sub-block that did not compress, no more is read than it takes.
func TestReadsNoFurtherThanTheDocument(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	var docs [][]byte
	for range 20 {
		docs = append(docs, noise(r, 4096))
	}
	s, file := build(t, docs, false)
	var d Decoder
	const dict, block = 4096, 7783
	for doc := 1; doc < 20; doc++ {
		if err := fetch(&d, s, file, doc); err != nil {
			t.Fatal(err)
		}
		from := (doc*4096 - dict) / block * block // of the sub-block in which it begins, behind the dictionary
		raw := dict + (doc+1)*4096 - dict - from
		w := d.Work()
		if w.Raw != raw || w.Used > raw+raw/255+d.header.size+64 {
			t.Errorf("document %d: %d bytes decoded of %d, want %d of about as many", doc, w.Raw, w.Used, raw)
		}
	}
}
