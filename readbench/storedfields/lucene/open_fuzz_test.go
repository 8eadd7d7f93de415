package lucene

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// FuzzOpen changes bytes of one file and makes its checksum right again, so that the numbers themselves have to be
// caught. Open must return, must not make more than the files' sizes allow, and must blame the contents.
func FuzzOpen(f *testing.F) {
	files := []struct{ index, file string }{
		{"10.6/mixed", "segments_1"}, {"10.6/mixed", "_0.si"}, {"10.6/mixed", "_0.fnm"}, {"10.6/mixed", "_0.fdm"},
		{"10.6/mixed", "_0.fdx"}, {"10.6/compound", "_0.cfe"}, {"8.7/big", "_0.fdm"}, {"8.7/big", "_0.fdx"}, {"8.7/big", "_0.fnm"},
	}
	dirs := make([]string, len(files))
	for i, c := range files {
		dirs[i] = copyIndex(f, c.index)
		for _, at := range []uint16{45, 50, 56, 64, 80} {
			f.Add(uint8(i), at, []byte{0xff, 0xff, 0xff, 0x7f})
		}
	}
	f.Fuzz(func(t *testing.T, file uint8, at uint16, change []byte) {
		i := int(file) % len(files)
		path := filepath.Join(dirs[i], files[i].file)
		// Processes that fuzz share nothing: each has its own copies. The original is put back for the next round.
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p := append([]byte(nil), whole...)
		copy(p[int(at)%(len(p)-footerSize):len(p)-footerSize], change)
		edit(t, dirs[i], files[i].file, func([]byte) []byte { return resum(p) })
		defer edit(t, dirs[i], files[i].file, func([]byte) []byte { return whole })
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		x, err := Open(dirs[i], CheckEnds)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
			t.Fatalf("%d bytes allocated", used)
		}
		var pathError *os.PathError // a name of a segment or file that is not there
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnknownFormat) && !errors.As(err, &pathError) {
			t.Fatalf("%v, want one that blames the contents", err)
		}
		if err != nil {
			return
		}
		for _, s := range x.Segments {
			for _, doc := range []int{0, s.Docs / 2, s.Docs - 1} {
				k, err := s.Chunk(doc)
				if err != nil || doc < k.DocBase || doc >= k.DocBase+k.Docs || k.Length < 1 || k.Offset+k.Length > s.dataOff+s.DataSize {
					t.Fatalf("document %d of %d: chunk %+v, %v", doc, s.Docs, k, err)
				}
			}
		}
	})
}
