package iobuf

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A buffer has the length that was asked for, starts with a page, is zero, and can be written to and read into.
func TestBuffer(t *testing.T) {
	const content = "what is read"
	f, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
	for _, huge := range []bool{false, true} {
		for _, n := range []int{1, 4096, 20000, 2<<20 - 1, 2 << 20, 2<<20 + 1, 9 << 20} {
			b, err := New(n, huge)
			if err != nil {
				t.Fatal(err)
			}
			p := b.Bytes()
			if len(p) != n || cap(p) != n {
				t.Errorf("length %d and capacity %d, want %d", len(p), cap(p), n)
			}
			if at := uintptr(unsafe.Pointer(&p[0])); at%uintptr(os.Getpagesize()) != 0 {
				t.Errorf("it starts at %#x", at)
			}
			if !bytes.Equal(p, make([]byte, n)) {
				t.Error("it is not zero")
			}
			p[n-1] = 1
			if n > len(content) {
				if _, err := unix.Pread(int(f.Fd()), p, 0); err != nil || string(p[:len(content)]) != content {
					t.Errorf("read %q, %v", p[:len(content)], err)
				}
			}
			if err := b.Close(); err != nil || b.Bytes() != nil {
				t.Errorf("closed: %v, and it has %d bytes", err, len(b.Bytes()))
			}
			if err := b.Close(); err != nil {
				t.Errorf("closed again: %v", err)
			}
		}
	}
	for _, n := range []int{0, -1} {
		if _, err := New(n, true); err == nil {
			t.Errorf("a buffer of %d bytes", n)
		}
	}
	if b, err := New(math.MaxInt64/2, false); err == nil {
		t.Errorf("a buffer of %d bytes", len(b.Bytes()))
	}
}

// What is asked for in huge pages is in them, what is not is not, also when it is a neighbour.
func TestHuge(t *testing.T) {
	unit := hugePage()
	if unit == 0 || unit > Waste || strings.Contains(Setting(), "is never") {
		t.Skip(Setting())
	}
	if strings.Contains(Setting(), "is always") {
		t.Skip("everything is in huge pages here: " + Setting())
	}
	sizes := []int{1, unit, 3*unit - 1}
	var plain, huge []*Buffer
	for _, n := range sizes {
		for _, isHuge := range []bool{false, true} {
			b, err := New(n, isHuge)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if isHuge {
				huge = append(huge, b)
			} else {
				plain = append(plain, b)
			}
		}
	}
	all := int64(0)
	for i, n := range sizes {
		if got, err := plain[i].Huge(); got != 0 || err != nil {
			t.Errorf("%d bytes: %d are in huge pages, and none were asked for; %v", n, got, err)
		}
		want := int64(roundUp(n, unit))
		got, err := huge[i].Huge()
		if err != nil || got > want || got%int64(unit) != 0 {
			t.Errorf("%d bytes: %d are in huge pages, want %d; %v", n, got, want, err)
		}
		all += got
		if got > 0 {
			if err := unix.Madvise(huge[i].p[:min(n, os.Getpagesize())], unix.MADV_NOHUGEPAGE); err != nil {
				t.Error(err)
			}
			if err := unix.Madvise(huge[i].p, unix.MADV_DONTNEED); err != nil {
				t.Error(err)
			}
			if got, err := huge[i].Huge(); got != 0 || err != nil {
				t.Errorf("%d bytes, given back: %d are in huge pages; %v", n, got, err)
			}
		}
	}
	if all == 0 {
		t.Errorf("none of %d buffers is in huge pages: %s", len(huge), Setting())
	}
}

const smaps = `55e0f5a00000-55e0f5a21000 rw-p 00000000 00:00 0                          [heap]
Size:                132 kB
AnonHugePages:      4096 kB
VmFlags: rd wr mr mw me ac sd
7f0000000000-7f0000400000 ---p 00000000 00:00 0
AnonHugePages:         0 kB
7f0000400000-7f0000a00000 rw-p 00000000 00:00 0
Size:               6144 kB
AnonHugePages:      4096 kB
FilePmdMapped:         0 kB
VmFlags: rd wr mr mw me ac sd hg
7f0000a00000-7f0000a01000 ---p 00000000 00:00 0
AnonHugePages:      2048 kB
7f0000a01000-7f0000c00000 rw-p 00000000 00:00 0 /a file-name
AnonHugePages:      2048 kB
`

func TestHugeIn(t *testing.T) {
	for _, c := range []struct {
		name     string
		smaps    string
		from, to uint64
		want     int64
		err      string
	}{
		{"one mapping", smaps, 0x7f0000400000, 0x7f0000a00000, 4 << 20, ""},
		{"with those around it", smaps, 0x7f0000000000, 0x7f0000a01000, 6 << 20, ""},
		{"a part of one", smaps, 0x7f0000500000, 0x7f0000600000, 0, ""},
		{"nothing there", smaps, 0x1000, 0x2000, 0, ""},
		{"behind", smaps, 0x7fff00000000, 0x7fff00001000, 0, ""},
		{"empty", "", 0, math.MaxUint64, 0, ""},
		{"no number", strings.Replace(smaps, "4096 kB", "many kB", 1), 0, math.MaxUint64, 0, "many"},
		{"negative", strings.Replace(smaps, "4096 kB", "-1 kB", 1), 0, math.MaxUint64, 0, "-1"},
		{"no start", "x-7f00 rw-p\n", 0, math.MaxUint64, 0, `"x"`},
		{"no end", "7f00-x rw-p\n", 0, math.MaxUint64, 0, `"x"`},
		{"wrong behind it", strings.Replace(smaps, "55e0f5a00000", "zz", 1), 0, 1, 0, "zz"},
		{"never reached", smaps + "zz-zz rw-p\n", 0x7f0000400000, 0x7f0000a00000, 4 << 20, ""},
	} {
		got, err := hugeIn(strings.NewReader(c.smaps), c.from, c.to)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %d, %v; want %d, %q", c.name, got, err, c.want, c.err)
		}
	}
}

func FuzzHugeIn(f *testing.F) {
	f.Add(smaps, uint64(0), uint64(math.MaxUint64))
	f.Add("AnonHugePages: 9223372036854775807 kB", uint64(0), uint64(1))
	f.Add("0-0 \nAnonHugePages: 4503599627370496 kB\nAnonHugePages: 4503599627370496 kB\nAnonHugePages: 4503599627370496 kB", uint64(0), uint64(1))
	f.Fuzz(func(t *testing.T, smaps string, from, to uint64) {
		if n, err := hugeIn(strings.NewReader(smaps), from, to); n < 0 || err != nil && n != 0 {
			t.Errorf("%d, %v", n, err)
		}
	})
}
