package lucene

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/pierrec/lz4/v4"
)

// FuzzDecodePrefix takes p for a block, and for bytes to make a block of. Whatever it is, decoding returns; what the
// library decodes, this does to the same bytes, and the first n of them alone, from no more than the bound for n.
func FuzzDecodePrefix(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{0, 1, 5, 13, 20, 40, 300, 5000, 70000} {
		f.Add(text(r, n), uint16(n/3), uint32(n/2))
		f.Add(noise(r, n), uint16(0), uint32(n/4))
		f.Add(bytes.Repeat([]byte("abc"), n/3), uint16(7), uint32(n))
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, uint16(0), uint32(100))
	f.Add([]byte{0x1f, 7, 1, 0, 0xff, 0xff, 0}, uint16(0), uint32(500))
	var e blockEncoder
	f.Fuzz(func(t *testing.T, p []byte, dict uint16, cut uint32) {
		start := min(int(dict), len(p))
		e.setDict(p[:start])
		all := p[start:]
		want, packed := make([]byte, len(all)), e.append(nil, p, start)
		if n, err := lz4.UncompressBlockWithDict(packed, want, p[:start]); len(all) > 0 && (err != nil || n != len(all)) {
			t.Fatal(n, err)
		}
		n := int(cut) % (len(all) + 1)
		for _, n := range []int{n, len(all)} {
			got := make([]byte, n)
			src := packed
			if n < len(all) {
				src = packed[:min(len(packed), prefixBound(n, len(all)))]
			}
			used, err := decodePrefix(got, src, p[:start], n == len(all) && n > 0)
			if err != nil || !bytes.Equal(got, all[:n]) || n == len(all) && n > 0 && used != len(src) {
				t.Fatalf("%d of %d bytes: %v, used %d of %d", n, len(all), err, used, len(src))
			}
		}
		// p itself as a block.
		size := int(cut % (1 << 17))
		theirs, ours := make([]byte, size), make([]byte, size)
		k, err := lz4.UncompressBlockWithDict(p, theirs, want)
		_, ourErr := decodePrefix(ours, p, want, size > 0)
		if good := err == nil && k == size; size > 0 && good != (ourErr == nil) || good && !bytes.Equal(ours, theirs) {
			t.Fatalf("%d bytes: the library %d, %v, this %v", size, k, err, ourErr)
		}
	})
}

// A block that did not compress, with any one of its first bytes or its last changed: whatever the library refuses is refused.
func TestDamagedWholeBlock(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{20, 270, 4096, 7790} {
		all := noise(r, n)
		var e blockEncoder
		e.setDict(nil)
		packed := e.append(nil, all, 0)
		if len(packed) < n {
			t.Fatalf("%d bytes compressed to %d", n, len(packed))
		}
		ours, theirs := make([]byte, n), make([]byte, n)
		refused := 0
		for i := range packed {
			if i >= 48 && i < len(packed)-1 {
				continue
			}
			for change := 1; change < 256; change++ {
				bad := bytes.Clone(packed)
				bad[i] ^= byte(change)
				k, err := lz4.UncompressBlock(bad, theirs)
				_, ourErr := decodePrefix(ours, bad, nil, true)
				if good := err == nil && k == n; good != (ourErr == nil) || good && !bytes.Equal(ours, theirs) {
					t.Fatalf("%d bytes, byte %d changed by %d: the library says %d, %v, this %v", n, i, change, k, err, ourErr)
				}
				if ourErr != nil {
					refused++
				}
			}
		}
		if refused == 0 {
			t.Errorf("%d bytes: nothing was refused", n)
		}
		if _, err := decodePrefix(ours, append(packed, 1, 2, 3), nil, true); err == nil {
			t.Errorf("%d bytes: takes a block that goes on behind them", n)
		}
	}
}

// benchDocs are documents whose chunks are larger than the caches: random and json as the workload has them, and
// documents of whole sub-blocks, of which none is left out.
func benchDocs(b *testing.B, kind string) (*Segment, []byte) {
	r := rand.New(rand.NewPCG(11, 12))
	const total = 48 << 20
	var docs [][]byte
	switch kind {
	case "random":
		for range total / 4096 {
			docs = append(docs, noise(r, 4096))
		}
	case "text":
		for range total / 4096 {
			docs = append(docs, text(r, 4096))
		}
	case "blocks":
		for range total / ChunkSize {
			docs = append(docs, noise(r, 4096))
			for range 9 {
				docs = append(docs, noise(r, 7783))
			}
			docs = append(docs, noise(r, 7777))
		}
	}
	return build(b, docs, false)
}

// BenchmarkDecode compares decoding documents from memory, one after the other (order=near: a header is parsed once a chunk) or
// so that each lies in another chunk than the one before (order=far), with having a library for LZ4 blocks decode the dictionaries and the sub-blocks that they touch, of which it is told beforehand where
// they are and how large. They take turns, so that a busy machine slows down both, at different documents, so that neither
// warms the caches for the other.
//
// docs-share is the plain decoding's time of a document over ours: above 1 ours is faster. raw-share is the same for a
// byte that comes out: the library decodes whole sub-blocks, this stops where the document ends if it can, and so makes
// fewer. The plain decoding has buffers that Go's copy likes.
func BenchmarkDecode(b *testing.B) {
	for _, kind := range []string{"random", "text", "blocks"} {
		s, file := benchDocs(b, kind)
		plain := newPlain(b, s, file)
		for order, stride := range map[string]int{"near": 1, "far": 7919} {
			b.Run("docs="+kind+"/order="+order, func(b *testing.B) {
				var d Decoder
				var took [2]time.Duration
				var raw [2]int
				b.ResetTimer()
				const turn = 64
				for i := 0; i < b.N; i += turn {
					n := min(turn, b.N-i)
					start := time.Now()
					for k := range n {
						if err := decode(&d, s, file, (i+k)*stride%s.Docs); err != nil {
							b.Fatal(err)
						}
						raw[0] += d.Work().Raw
					}
					middle := time.Now()
					for k := range n {
						out, err := plain.decode(((i+k)*stride + s.Docs/2) % s.Docs)
						if err != nil {
							b.Fatal(err)
						}
						raw[1] += out
					}
					took[0] += middle.Sub(start)
					took[1] += time.Since(middle)
				}
				b.ReportMetric(float64(took[0].Nanoseconds())/float64(b.N), "decode-ns/op")
				b.ReportMetric(float64(took[1].Nanoseconds())/float64(b.N), "plain-ns/op")
				share := float64(took[1]) / float64(took[0])
				b.ReportMetric(share, "docs-share")
				b.ReportMetric(share*float64(raw[0])/float64(raw[1]), "raw-share")
			})
		}
	}
}

// decode decodes a document from its chunk, all of which is in memory.
func decode(d *Decoder, s *Segment, file []byte, doc int) error {
	if err := d.Start(s, doc); err != nil {
		return err
	}
	k := d.Chunk()
	return d.Feed(k.Offset, file[k.Offset:k.Offset+k.Length])
}

// plain decodes the parts of documents with a library.
type plain struct {
	file      []byte
	docs      [][]plainPart // of each document: the dictionary, the sub-blocks
	dict, out []byte
}

type plainPart struct{ off, n, raw int }

func newPlain(b *testing.B, s *Segment, file []byte) *plain {
	p := &plain{file: file, docs: make([][]plainPart, s.Docs), dict: unaligned(maxDict), out: unaligned(2 * ChunkSize)}
	var d Decoder
	for doc := range p.docs {
		if err := fetch(&d, s, file, doc); err != nil {
			b.Fatal(err)
		}
		r, k, h := &d.run, d.Chunk(), &d.header
		i := doc - k.DocBase
		add := func(part int) {
			p.docs[doc] = append(p.docs[doc], plainPart{int(k.Offset) + r.off[part], r.len[part], r.rawLen(part)})
		}
		add(0)
		for part := max(1, r.partOf(int(h.starts[i]))); part <= r.partOf(int(h.starts[i+1])-1); part++ {
			add(part)
		}
	}
	return p
}

func (p *plain) decode(doc int) (raw int, err error) {
	dict := p.dict[:p.docs[doc][0].raw]
	n := 0
	for i, part := range p.docs[doc] {
		src := p.file[part.off : part.off+part.n]
		if i == 0 {
			_, err = lz4.UncompressBlock(src, dict)
		} else {
			_, err = lz4.UncompressBlockWithDict(src, p.out[n:n+part.raw], dict)
			n += part.raw
		}
		if err != nil {
			return 0, err
		}
	}
	return len(dict) + n, nil
}

// unaligned returns n bytes that do not start at a multiple of 16: see copyLiterals.
func unaligned(n int) []byte {
	buf := make([]byte, n+16)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(buf)))
	return buf[(8-at)&15:][:n]
}
