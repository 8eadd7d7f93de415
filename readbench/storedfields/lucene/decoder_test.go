package lucene

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func openGolden(t testing.TB, name string) (*Segment, []byte) {
	t.Helper()
	x, err := Open(filepath.Join("testdata", filepath.FromSlash(name)), CheckEnds)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(x.Segments[0].DataFile)
	if err != nil {
		t.Fatal(err)
	}
	return x.Segments[0], file
}

// Once warm, decoding a BestSpeed document allocates nothing, whether the chunk is a new one or not.
func TestDecodeAllocatesNothing(t *testing.T) {
	for _, name := range []string{"10.6/mixed", "10.6/tiny", "8.7/big"} {
		s, file := openGolden(t, name)
		var d Decoder
		doc := 0
		next := func() {
			doc = (doc + s.Docs/3 + 1) % s.Docs
			if err := fetch(&d, s, file, doc); err != nil {
				t.Fatal(err)
			}
			var f Field
			for it := d.Fields(); it.Next(&f); {
			}
		}
		for range s.Docs {
			next()
		}
		if n := testing.AllocsPerRun(s.Docs, next); n != 0 {
			t.Errorf("%s: %v allocations a document", name, n)
		}
	}
}

func TestFeedRefusesOtherBytes(t *testing.T) {
	s, file := openGolden(t, "10.6/mixed")
	var d Decoder
	if err := d.Start(s, 5); err != nil {
		t.Fatal(err)
	}
	off, n := d.Want()
	for _, r := range [][2]int64{{off + 1, off + int64(n) + 1}, {off, off + int64(n) - 1}, {0, off}} {
		if err := d.Feed(r[0], file[r[0]:r[1]]); err == nil {
			t.Errorf("takes bytes %v, wanted %d at %d", r, n, off)
		}
	}
	if err := d.Start(s, s.Docs); err == nil {
		t.Error("starts with a document behind the last")
	}
	if err := d.Start(s, -1); err == nil {
		t.Error("starts with document -1")
	}
}

// After an error the decoder is as good as new.
func TestDecodeAfterError(t *testing.T) {
	s, file := openGolden(t, "10.6/mixed")
	bad := append([]byte(nil), file...)
	k := s.ChunkAt(3)
	for i := k.Offset; i < k.Offset+k.Length; i++ {
		bad[i] = 0xff
	}
	var d Decoder
	err := fetch(&d, s, bad, k.DocBase+1)
	var e *Error
	if !errors.As(err, &e) || e.Chunk != 3 || e.Offset < k.Offset || e.Offset >= k.Offset+k.Length || !errors.Is(err, ErrCorrupt) {
		t.Fatalf("%v, want an error about chunk 3, at %+v", err, k)
	}
	if err := fetch(&d, s, file, k.DocBase+1); err != nil {
		t.Fatal(err)
	}
}

// FuzzDecode changes bytes of a chunk: whatever they are, the decoder returns, with an error or a document, and makes
// no more of them than their number allows.
func FuzzDecode(f *testing.F) {
	names := []string{"10.6/mixed", "10.6/tiny", "10.6/best-compression", "8.7/big"}
	segments := make([]*Segment, len(names))
	files := make([][]byte, len(names))
	for i, name := range names {
		segments[i], files[i] = openGolden(f, name)
		f.Add(uint8(i), uint16(0), uint16(1), []byte{0xff, 0xff, 0xff, 0xff, 0x07}, uint8(0))
		f.Add(uint8(i), uint16(3), uint16(0), []byte{0}, uint8(1))
		f.Add(uint8(i), uint16(7), uint16(40), []byte{1, 2, 3}, uint8(7))
	}
	f.Fuzz(func(t *testing.T, index uint8, chunk, at uint16, bytes []byte, doc uint8) {
		s := segments[int(index)%len(names)]
		k := s.ChunkAt(int(chunk) % s.Chunks())
		p := append([]byte(nil), files[int(index)%len(names)][k.Offset:k.Offset+k.Length]...)
		copy(p[int64(at)%k.Length:], bytes)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var d Decoder
		err := d.Start(s, k.DocBase+int(doc)%k.Docs)
		for err == nil {
			off, n := d.Want()
			if n == 0 {
				break
			}
			if off < k.Offset || off+int64(n) > k.Offset+k.Length {
				t.Fatalf("wants %d bytes at %d of chunk %+v", n, off, k)
			}
			err = d.Feed(off, p[off-k.Offset:off-k.Offset+int64(n)])
		}
		runtime.ReadMemStats(&after)
		if used, limit := after.TotalAlloc-before.TotalAlloc, uint64(len(p))*2*maxRatioDeflate+1<<20; used > limit {
			t.Fatalf("%d bytes allocated for a chunk of %d", used, len(p))
		}
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%v, want ErrCorrupt", err)
			}
			return
		}
		var field Field
		it := d.Fields()
		for it.Next(&field) {
		}
	})
}
