package lucene

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// copyIndex copies an index of testdata into a directory of its own.
func copyIndex(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", filepath.FromSlash(name)))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// edit changes a file.
func edit(t testing.TB, dir, name string, change func(p []byte) []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	p, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(p), 0o644); err != nil {
		t.Fatal(err)
	}
}

func flip(at int) func([]byte) []byte {
	return func(p []byte) []byte {
		if at < 0 {
			p[len(p)+at] ^= 1
		} else {
			p[at] ^= 1
		}
		return p
	}
}

func cut(n int) func([]byte) []byte { return func(p []byte) []byte { return p[:len(p)-n] } }

// resum makes the checksum of a file right again.
func resum(p []byte) []byte {
	binary.BigEndian.PutUint64(p[len(p)-8:], uint64(crc32.ChecksumIEEE(p[:len(p)-8])))
	return p
}

// What is damaged is refused at open, with the file that is to blame and what is wrong with it.
func TestOpenRefuses(t *testing.T) {
	replace := func(old, new string) func([]byte) []byte {
		return func(p []byte) []byte { return resum([]byte(strings.Replace(string(p), old, new, 1))) }
	}
	for _, c := range []struct {
		name, index, file string
		change            func([]byte) []byte
		check             Check
		kind              error
		want              string
	}{
		{"checksum of .fdm", "10.6/mixed", "_0.fdm", flip(60), CheckEnds, ErrCorrupt, "checksum"},
		{"checksum of .fdx", "10.6/mixed", "_0.fdx", flip(60), CheckEnds, ErrCorrupt, "checksum"},
		{"checksum of .fnm", "10.6/mixed", "_0.fnm", flip(60), CheckEnds, ErrCorrupt, "checksum"},
		{"checksum of .si", "10.6/mixed", "_0.si", flip(60), CheckEnds, ErrCorrupt, "checksum"},
		{"checksum of segments", "10.6/mixed", "segments_1", flip(60), CheckEnds, ErrCorrupt, "checksum"},
		{"checksum of .fdt", "10.6/mixed", "_0.fdt", flip(5000), CheckFull, ErrCorrupt, "checksum"},
		{"checksum of .fdt in compound", "10.6/compound", "_0.cfs", flip(5000), CheckFull, ErrCorrupt, "(.fdt)"},
		{"checksum of .cfe", "10.6/compound", "_0.cfe", flip(60), CheckEnds, ErrCorrupt, "checksum"},
		{"footer of .fdt", "10.6/mixed", "_0.fdt", flip(-16), CheckEnds, ErrCorrupt, "footer"},
		{"cut .fdt", "10.6/mixed", "_0.fdt", cut(1), CheckEnds, ErrCorrupt, "footer"},
		{"cut .fdx", "10.6/mixed", "_0.fdx", cut(20), CheckEnds, ErrCorrupt, "footer"},
		{"cut .fdm", "8.7/big", "_0.fdm", cut(20), CheckEnds, ErrCorrupt, "footer"},
		{"cut .cfs", "10.6/compound", "_0.cfs", cut(4096), CheckEnds, ErrCorrupt, "footer"},
		{"empty .fdt", "10.6/mixed", "_0.fdt", func([]byte) []byte { return nil }, CheckEnds, ErrUnknownFormat, "header"},
		{"encrypted .fdt", "10.6/mixed", "_0.fdt", flip(0), CheckEnds, ErrUnknownFormat, "encrypted"},
		{"codec name", "10.6/mixed", "_0.fdt", replace("Lucene90Stored", "Lucene99Stored"), CheckEnds, ErrUnknownFormat,
			`"Lucene99StoredFieldsFastData" version 1, expected`},
		{"codec version", "10.6/mixed", "_0.fdt", replace("FastData\x00\x00\x00\x01", "FastData\x00\x00\x00\x02"), CheckEnds,
			ErrUnknownFormat, `version 2, expected`},
		{"codec of the segment", "10.6/mixed", "segments_1", replace("\x09Lucene104", "\x09Elastic99"), CheckEnds, ErrUnknownFormat,
			`"Elastic99", expected one of`},
		{"documents", "10.6/mixed", "_0.si", func(p []byte) []byte { p[0x48]++; return resum(p) }, CheckEnds, ErrCorrupt, "documents"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copyIndex(t, c.index)
			edit(t, dir, c.file, c.change)
			_, err := Open(dir, c.check)
			var e *Error
			if !errors.Is(err, c.kind) || !errors.As(err, &e) {
				t.Fatalf("%v, want %v", err, c.kind)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want it to say %q", err, c.want)
			}
			base := c.file
			if c.name == "documents" {
				base = "_0.fdm"
			} else if c.name == "codec of the segment" {
				base = "_0.si"
			}
			if !strings.Contains(e.File, base) {
				t.Errorf("blames %s, want %s", e.File, base)
			}
		})
	}
}

// Files of two segments that are mixed up are refused, whichever they are.
func TestOpenRefusesMixedSegments(t *testing.T) {
	for _, ext := range []string{".fdm", ".fdx", ".fdt", ".fnm", ".si"} {
		dir := copyIndex(t, "10.6/segments")
		other, err := os.ReadFile(filepath.Join(dir, "_1"+ext))
		if err != nil {
			t.Fatal(err)
		}
		edit(t, dir, "_0"+ext, func([]byte) []byte { return other })
		if _, err := Open(dir, CheckEnds); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "mixed up") {
			t.Errorf("%s: %v, want ErrCorrupt about a mix-up", ext, err)
		}
		if err := os.Remove(filepath.Join(dir, "_0"+ext)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, CheckEnds); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without _0%s: %v, want os.ErrNotExist", ext, err)
		}
	}
}

// No cut, at whatever byte, of the small files opens, and none panics.
func TestOpenRefusesEveryCut(t *testing.T) {
	for _, c := range []struct{ index, file string }{{"10.6/mixed", "_0.fdm"}, {"8.7/big", "_0.fdx"}, {"10.6/segments", "segments_1"},
		{"10.6/compound", "_0.cfe"}, {"8.7/big", "_0.si"}, {"10.6/mixed", "_0.fnm"}} {
		dir := copyIndex(t, c.index)
		whole, err := os.ReadFile(filepath.Join(dir, c.file))
		if err != nil {
			t.Fatal(err)
		}
		for n := range whole {
			// Once as it is, once with a footer that fits, so that the numbers themselves have to be caught.
			for _, p := range [][]byte{whole[:n], appendFooter(append([]byte(nil), whole[:n]...), crc32.ChecksumIEEE(whole[:n]))} {
				if len(p) == len(whole) {
					continue
				}
				edit(t, dir, c.file, func([]byte) []byte { return p })
				if _, err := Open(dir, CheckEnds); err == nil && c.file != "_0.si" {
					t.Fatalf("%s of %s opens with %d of %d bytes", c.file, c.index, n, len(whole))
				}
			}
		}
	}
}

func TestOpenWithoutCommit(t *testing.T) {
	if _, err := Open(t.TempDir(), CheckEnds); err == nil || !strings.Contains(err.Error(), "segments_N") {
		t.Errorf("%v, want an error that asks for segments_N", err)
	}
}

// A pipe in the place of any file of an index is refused. Opening one would wait for ever.
func TestOpenRefusesPipes(t *testing.T) {
	pipes := 0
	entries, err := os.ReadDir(filepath.Join("testdata", "10.6/compound"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		dir := copyIndex(t, "10.6/compound")
		path := filepath.Join(dir, e.Name())
		if err := errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, CheckFull)
		if err == nil {
			continue // of a file that is not read
		}
		pipes++
		if !strings.Contains(err.Error(), e.Name()) || !strings.Contains(err.Error(), "it is a named pipe") {
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
	if pipes < 3 {
		t.Errorf("%d of %d files were read", pipes, len(entries))
	}
}
