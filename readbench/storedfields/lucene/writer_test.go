package lucene

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// Chunks that the library wrote, written again, give its own .fdt, .fdx and .fdm to the byte.
func TestWriterWritesWhatTheLibraryWrites(t *testing.T) {
	for _, name := range []string{"10.6/mixed", "10.6/tiny", "10.6/segments"} {
		x, err := Open(filepath.Join("testdata", filepath.FromSlash(name)), CheckFull)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range x.Segments {
			file, err := os.ReadFile(s.DataFile)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			w, err := create(dir, s.ID, []string{"body", "id", "title", "price", "when"})
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.Chunks() {
				k := s.ChunkAt(i)
				if err := w.WriteChunk(file[k.Offset : k.Offset+k.Length]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for _, ext := range []string{".fdt", ".fdx", ".fdm"} {
				got, err := os.ReadFile(filepath.Join(dir, "_0"+ext))
				if err != nil {
					t.Fatal(err)
				}
				want, err := os.ReadFile(filepath.Join(x.Dir, s.Name+ext))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s of segment %s of %s: %d bytes differ from the library's %d", ext, s.Name, name, len(got), len(want))
				}
			}
		}
	}
}

// The documents of the library's chunks, put into chunks again, close where its chunks close and have the same headers,
// dictionary lengths and sub-block lengths, to the byte.
func TestChunkBuilderCutsAsTheLibraryDoes(t *testing.T) {
	for _, name := range []string{"10.6/mixed", "10.6/tiny", "10.6/segments"} {
		s, file := openGolden(t, name)
		var d Decoder
		var b ChunkBuilder
		for i := range s.Chunks() {
			k := s.ChunkAt(i)
			for doc := k.DocBase; doc < k.DocBase+k.Docs; doc++ {
				if err := fetch(&d, s, file, doc); err != nil {
					t.Fatal(err)
				}
				if err := b.Add(d.Document()); err != nil {
					t.Fatalf("%s, chunk %d: %v", name, i, err)
				}
			}
			if last := i == s.Chunks()-1; !last && !b.Full() {
				t.Fatalf("%s: chunk %d is not full", name, i)
			}
			lib := file[k.Offset : k.Offset+k.Length]
			var h chunkHeader
			if ok, err := h.parse(s, k, lib); !ok {
				t.Fatal(err)
			}
			c := cursor{p: lib, at: h.size}
			c.vInt()
			c.vInt()
			if got := b.AppendChunk(nil, k.DocBase); !bytes.HasPrefix(got, lib[:c.at]) {
				t.Errorf("%s: chunk %d starts with % x, the library's with % x", name, i, got[:min(64, c.at)], lib[:min(64, c.at)])
			}
		}
	}
}

// build writes documents as they come, each closing chunks as the library does, or a chunk of its own if single.
func build(t testing.TB, docs [][]byte, single bool) (*Segment, []byte) {
	t.Helper()
	dir := t.TempDir()
	w, err := Create(dir, "body")
	if err != nil {
		t.Fatal(err)
	}
	var b ChunkBuilder
	var chunk []byte
	for i, p := range docs {
		if err := b.Add(p, i%3); err != nil {
			t.Fatal(err)
		}
		if b.Full() || single || i == len(docs)-1 {
			chunk = b.AppendChunk(chunk[:0], w.Docs())
			if err := w.WriteChunk(chunk); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := Open(dir, CheckFull)
	if err != nil {
		t.Fatal(err)
	}
	if x.Docs != int64(len(docs)) || len(x.Segments) != 1 {
		t.Fatalf("%d documents in %d segments, want %d in 1", x.Docs, len(x.Segments), len(docs))
	}
	if name, found := x.Segments[0].FieldName(0); name != "body" || !found {
		t.Fatalf("field 0 is %q", name)
	}
	file, err := os.ReadFile(x.Segments[0].DataFile)
	if err != nil {
		t.Fatal(err)
	}
	return x.Segments[0], file
}

// text returns n bytes that compress, with matches near and far.
func text(r *rand.Rand, n int) []byte {
	words := []string{"level=info ", "took=", "GET /index/search ", "status=200 ", "shard=", "0123456789abcdef"}
	p := make([]byte, 0, n+32)
	for len(p) < n {
		if r.IntN(3) == 0 {
			p = append(p, byte(r.Uint32()), byte(r.Uint32()))
		} else {
			p = append(p, words[r.IntN(len(words))]...)
		}
	}
	return p[:n]
}

func noise(r *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	repeat := func(n, size int, f func(*rand.Rand, int) []byte) (docs [][]byte) {
		for range n {
			docs = append(docs, f(r, size))
		}
		return docs
	}
	for _, c := range []struct {
		name   string
		docs   [][]byte
		chunks int
		single bool
	}{
		{"no documents", nil, 0, false},
		{"one empty document", [][]byte{{}}, 1, false},
		{"1024 empty documents", make([][]byte, 1024), 1, false},
		{"1025 empty documents", make([][]byte, 1025), 2, false},
		{"one byte", [][]byte{{7}}, 1, false},
		{"one byte each", repeat(2000, 1, noise), 2, false},
		{"1024 tiny ones", repeat(1024, 30, text), 1, false},
		{"empty ones between", [][]byte{{}, noise(r, 50000), {}, {}, noise(r, 31920), {}, {1}}, 2, false},
		{"a byte less than a chunk", [][]byte{noise(r, ChunkSize-1), {1}, {2}}, 2, false},
		{"as large as a chunk", [][]byte{text(r, ChunkSize), {1}}, 2, false},
		{"larger than a chunk", [][]byte{text(r, ChunkSize+1), {1}}, 2, false},
		{"a byte less than sliced", [][]byte{noise(r, 2*ChunkSize-1)}, 1, false},
		{"sliced", [][]byte{text(r, 2*ChunkSize)}, 1, false},
		{"small ones, then sliced", append(repeat(19, 4096, text), noise(r, 5*ChunkSize+1), []byte("end")), 2, false},
		{"as published", repeat(100, 4096, noise), 5, false},
		{"log lines", repeat(3000, 200, text), 8, false},
		{"more than 1024 chunks", repeat(3000, 33, noise), 3000, true},
		{"sizes of 8, 16 and 32 bits", append(append(repeat(300, 9, noise), repeat(20, 300, noise)...), noise(r, 70000), []byte{1}), 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, file := build(t, c.docs, c.single)
			if s.Chunks() != c.chunks {
				t.Errorf("%d chunks, want %d", s.Chunks(), c.chunks)
			}
			var d, whole Decoder
			for i := range c.docs {
				for _, fetch := range []func() (*Decoder, error){
					func() (*Decoder, error) { return &d, fetch(&d, s, file, i) },
					func() (*Decoder, error) { return &whole, fetchWhole(&whole, s, file, i) },
				} {
					d, err := fetch()
					if err != nil {
						t.Fatal(err)
					}
					if got, fields := d.Document(); !bytes.Equal(got, c.docs[i]) || fields != i%3 {
						t.Fatalf("document %d: %d bytes, %d fields; want %d, %d", i, len(got), fields, len(c.docs[i]), i%3)
					}
				}
			}
		})
	}
}

// Only the sub-blocks that a document touches are decoded, at their edges too.
func TestDecodesOnlyWhatIsTouched(t *testing.T) {
	// 81,920 bytes: a dictionary of 4096, ten sub-blocks of 7783 (the last 7777).
	const dict, block = 4096, 7783
	r := rand.New(rand.NewPCG(3, 4))
	sizes := []int{dict - 1, 1, block, block - 1, 1, 1, block - 1, 2*block - 1, 2, block - 1}
	blocks := []int{0, 0, 1, 1, 1, 1, 1, 2, 2, 1}
	rest := ChunkSize
	var docs [][]byte
	for _, n := range sizes {
		docs = append(docs, noise(r, n))
		rest -= n
	}
	docs = append(docs, noise(r, rest))
	s, file := build(t, docs, false)
	var d Decoder
	for i, want := range blocks {
		if err := fetch(&d, s, file, i); err != nil {
			t.Fatal(err)
		}
		w := d.Work()
		if w.Blocks != want {
			t.Errorf("document %d of %d bytes: %d sub-blocks decoded, want %d", i, sizes[i], w.Blocks, want)
		}
		if headers := map[bool]int{true: 1}[i == 0]; w.Headers != headers {
			t.Errorf("document %d: %d headers parsed, want %d", i, w.Headers, headers)
		}
		if limit := dict + want*block; w.Raw > limit || w.Raw < dict {
			t.Errorf("document %d: %d bytes decoded, want at most %d", i, w.Raw, limit)
		}
	}
}

// A damaged part is an error that says which, and where.
func TestDecodeNamesTheDamagedPart(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	docs := make([][]byte, 20)
	for i := range docs {
		docs[i] = text(r, 4096)
	}
	s, file := build(t, docs, false)
	var d Decoder
	if err := fetch(&d, s, file, 10); err != nil {
		t.Fatal(err)
	}
	for part := range subBlocks + 1 {
		bad := append([]byte(nil), file...)
		for i := range d.run.len[part] {
			bad[d.chunk.Offset+int64(d.run.off[part]+i)] = 0xff
		}
		var e *Error
		failed := 0
		for i := range docs {
			var broken Decoder
			if err := fetch(&broken, s, bad, i); err != nil {
				if !errors.As(err, &e) || e.Block != part || e.Chunk != 0 || e.Offset != d.chunk.Offset+int64(d.run.off[part]) {
					t.Fatalf("part %d: %v", part, err)
				}
				failed++
			}
		}
		if want := map[bool]int{true: 20}[part == 0]; failed < max(1, want) {
			t.Errorf("part %d: %d documents fail", part, failed)
		}
	}
}

func TestFieldsRoundTrip(t *testing.T) {
	var fields []Field
	for _, v := range []int64{0, 1, -1, 63, 64, 999, 1000, -1000, 3600000, 7200000, 86400000, -86400000, 1700000000000,
		1700000000001, math.MaxInt64, math.MinInt64} {
		fields = append(fields, Field{Kind: Long, Int: v}, Field{Kind: Int, Int: int64(int32(v))})
	}
	for _, v := range []float64{0, math.Copysign(0, -1), -1, -2, 1, 123, 124, 125, 126, 0.5, 1.25, -1.25,
		1e300, -1e300, math.Pi, math.Inf(1), math.Inf(-1),
		math.SmallestNonzeroFloat64} {
		fields = append(fields, Field{Kind: Double, Float: v}, Field{Kind: Float, Float: float64(float32(v))})
	}
	fields = append(fields, Field{Kind: Bytes, Bytes: []byte{}}, Field{Kind: String, Bytes: []byte("é")}, Field{Kind: Bytes, Bytes: make([]byte, 300)})
	var doc []byte
	for i := range fields {
		fields[i].Number = i * 9
		doc = AppendField(doc, fields[i])
	}
	dir := t.TempDir()
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b ChunkBuilder
	if err := b.Add(doc, len(fields)); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteChunk(b.AppendChunk(nil, 0)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := Open(dir, CheckFull)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(x.Segments[0].DataFile)
	if err != nil {
		t.Fatal(err)
	}
	var d Decoder
	if err := fetch(&d, x.Segments[0], file, 0); err != nil {
		t.Fatal(err)
	}
	var f Field
	it := d.Fields()
	for _, want := range fields {
		if !it.Next(&f) || f.Number != want.Number || f.Kind != want.Kind || f.Int != want.Int ||
			math.Float64bits(f.Float) != math.Float64bits(want.Float) || !bytes.Equal(f.Bytes, want.Bytes) {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
	if it.Next(&f) || it.Err() != nil {
		t.Errorf("more than all fields, or %v", it.Err())
	}
}

func TestWriterRefuses(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, "body")
	if err != nil {
		t.Fatal(err)
	}
	var b ChunkBuilder
	if err := b.Add(make([]byte, ChunkSize), 1); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(nil, 0); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("adds to a full chunk: %v", err)
	}
	if err := w.WriteChunk(b.AppendChunk(nil, 1)); err == nil {
		t.Error("writes a chunk that does not come next")
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, CheckEnds); err == nil {
		t.Error("opens what was never closed")
	}
	if w, err = Create(dir); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir); err == nil || !strings.Contains(err.Error(), "remove it first") {
		t.Errorf("creates an index over another: %v", err)
	}
}

// FuzzBlockEncoder decodes what the encoder made, with a decoder that is not ours.
func FuzzBlockEncoder(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 4, 5, 11, 12, 13, 16, 17, 64, 300, 5000, 70000} {
		f.Add(text(r, n), uint32(n/3))
		f.Add(noise(r, n), uint32(n))
		f.Add(bytes.Repeat([]byte{'a'}, n), uint32(0))
	}
	var e blockEncoder
	f.Fuzz(func(t *testing.T, p []byte, dict uint32) {
		start := min(int(dict%(maxDict+1)), len(p))
		e.setDict(p[:start])
		packed := e.append(nil, p, start)
		if limit := len(p) - start + (len(p)-start)/255 + 16; len(packed) > limit {
			t.Fatalf("%d bytes become %d", len(p)-start, len(packed))
		}
		if start == len(p) {
			if !bytes.Equal(packed, []byte{0}) {
				t.Fatalf("nothing becomes % x", packed)
			}
			return
		}
		got := make([]byte, len(p)-start)
		n, err := lz4.UncompressBlockWithDict(packed, got, p[:start])
		if err != nil || !bytes.Equal(got[:n], p[start:]) {
			t.Fatalf("%d bytes behind a dictionary of %d: %d come back, %v", len(p)-start, start, n, err)
		}
	})
}
