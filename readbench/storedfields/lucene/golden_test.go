package lucene

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var indexes = flag.String("indexes", "testdata", "directory of RELEASE/NAME/ indexes with docs.tsv or docs.tsv.gz")

// expected is a line of docs.tsv: what the library was given for a document.
type expected struct {
	size int
	sum  string // of its field body
	id   int64
}

func readExpected(t *testing.T, dir string) []expected {
	t.Helper()
	var in io.Reader
	if f, err := os.Open(filepath.Join(dir, "docs.tsv")); err == nil {
		defer f.Close()
		in = f
	} else {
		f, err := os.Open(filepath.Join(dir, "docs.tsv.gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var docs []expected
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		w := strings.Split(lines.Text(), "\t")
		if strings.HasPrefix(w[0], "#") {
			continue
		}
		var e expected
		var err error
		if e.size, err = strconv.Atoi(w[1]); err != nil {
			t.Fatal(err)
		}
		e.sum = w[2]
		if e.id, err = strconv.ParseInt(w[3], 10, 64); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, e)
	}
	return docs
}

func goldenDirs(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(*indexes, "*", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no indexes in %s: %v", *indexes, err)
	}
	return dirs
}

// fetch decodes a document, reading exactly what the decoder wants from memory.
func fetch(d *Decoder, s *Segment, file []byte, doc int) error {
	if err := d.Start(s, doc); err != nil {
		return err
	}
	for {
		off, n := d.Want()
		if n == 0 {
			return nil
		}
		if k := d.Chunk(); off < k.Offset || off+int64(n) > k.Offset+k.Length {
			return fmt.Errorf("wants %d bytes at %d, the chunk is %+v", n, off, k)
		}
		if err := d.Feed(off, file[off:off+int64(n):off+int64(n)]); err != nil {
			return err
		}
	}
}

// fetchWhole decodes a document from all bytes of its chunk at once.
func fetchWhole(d *Decoder, s *Segment, file []byte, doc int) error {
	if err := d.Start(s, doc); err != nil {
		return err
	}
	if _, n := d.Want(); n == 0 {
		return nil
	}
	k := d.Chunk()
	if err := d.Feed(k.Offset, file[k.Offset:k.Offset+k.Length]); err != nil {
		return err
	}
	if _, n := d.Want(); n != 0 {
		return fmt.Errorf("wants %d bytes more than all", n)
	}
	return nil
}

// Every document of every index decodes to what the library was given, in order and against it, from single ranges and
// from whole chunks.
func TestGolden(t *testing.T) {
	for _, dir := range goldenDirs(t) {
		t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) {
			want := readExpected(t, dir)
			mixed := filepath.Base(dir) == "mixed"
			x, err := Open(dir, CheckFull)
			if err != nil {
				t.Fatal(err)
			}
			if x.Docs != int64(len(want)) {
				t.Fatalf("%d documents, want %d", x.Docs, len(want))
			}
			for _, s := range x.Segments {
				file, err := os.ReadFile(s.DataFile)
				if err != nil {
					t.Fatal(err)
				}
				var ranges, whole Decoder
				for i := range s.Docs {
					checkGolden(t, &ranges, s, i, want, mixed, fetch(&ranges, s, file, i))
					if s.Mode == BestCompression && i%16 != 0 {
						continue // DEFLATE is slow, above all with the race detector
					}
					j := s.Docs - 1 - i
					checkGolden(t, &whole, s, j, want, mixed, fetchWhole(&whole, s, file, j))
				}
			}
		})
	}
}

func checkGolden(t *testing.T, d *Decoder, s *Segment, doc int, docs []expected, mixed bool, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("document %d: %v", doc, err)
	}
	want := docs[s.DocBase+int64(doc)]
	var f Field
	seen := map[string]Field{}
	for it := d.Fields(); ; {
		if !it.Next(&f) {
			if it.Err() != nil {
				t.Fatalf("document %d: %v", doc, it.Err())
			}
			break
		}
		name, found := s.FieldName(f.Number)
		if _, twice := seen[name]; !found || twice {
			t.Fatalf("document %d: field %d, named %q, is unknown or there twice", doc, f.Number, name)
		}
		seen[name] = f
	}
	body, id := seen["body"], seen["id"]
	sum := sha256.Sum256(body.Bytes)
	if len(body.Bytes) != want.size || hex.EncodeToString(sum[:]) != want.sum {
		t.Fatalf("document %d: body of %d bytes, sum %x, want %d, %s", doc, len(body.Bytes), sum, want.size, want.sum)
	}
	if id.Kind != Int || id.Int != want.id {
		t.Fatalf("document %d: id %v %d, want int %d", doc, id.Kind, id.Int, want.id)
	}
	if body.Kind != Bytes {
		t.Fatalf("document %d: body is %v", doc, body.Kind)
	}
	// Every fifth document of the mixed sets has all types of fields, all others have two.
	all := mixed && want.id%5 == 0
	if want := map[bool]int{false: 2, true: 5}[all]; len(seen) != want {
		t.Fatalf("document %d: %d fields, want %d", doc, len(seen), want)
	}
	if !all {
		return
	}
	if v := seen["price"]; v.Kind != Double || v.Float != float64(want.id)*1.25 {
		t.Fatalf("document %d: price %v %v, want double %v", doc, v.Kind, v.Float, float64(want.id)*1.25)
	}
	if v := seen["when"]; v.Kind != Long || v.Int != 1700000000000+want.id {
		t.Fatalf("document %d: when %v %v, want long %v", doc, v.Kind, v.Int, 1700000000000+want.id)
	}
	if v := seen["title"]; v.Kind != String || string(v.Bytes) != "document "+strconv.FormatInt(want.id, 10) {
		t.Fatalf("document %d: title %v %q", doc, v.Kind, v.Bytes)
	}
}
