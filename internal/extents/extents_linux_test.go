package extents

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

// random is content that does not compress.
func random(n int) []byte {
	p := make([]byte, n)
	c := rand.NewChaCha8([32]byte{})
	c.Read(p)
	return p
}

// files are how files come to hold what they do; want is the map of all of it.
var files = []struct {
	name string
	make func(f *os.File) error
	want Map
	says string
}{
	{"written", func(f *os.File) error { _, err := f.Write(random(4 * mib)); return err }, Map{Size: 4 * mib}, ""},
	{"written, not to the end of a block", func(f *os.File) error { _, err := f.Write(random(mib + 100)); return err }, Map{Size: mib + 100}, ""},
	{"allocated, then written", func(f *os.File) error {
		_, err := f.WriteAt(random(4*mib), 0)
		return errors.Join(unix.Fallocate(int(f.Fd()), 0, 0, 4*mib), err)
	}, Map{Size: 4 * mib}, ""},
	{"allocated", func(f *os.File) error { return unix.Fallocate(int(f.Fd()), 0, 0, 4*mib) }, Map{Size: 4 * mib, Unwritten: 4 * mib},
		"4194304 of 4194304 bytes (100.0 %) lie in extents that were allocated and never written"},
	{"allocated, and half of it written", func(f *os.File) error {
		if err := unix.Fallocate(int(f.Fd()), 0, 0, 4*mib); err != nil {
			return err
		}
		_, err := f.WriteAt(random(2*mib), mib)
		return err
	}, Map{Size: 4 * mib, Unwritten: 2 * mib}, "2097152 of 4194304 bytes (50.0 %)"},
	{"holes", func(f *os.File) error {
		_, err := f.WriteAt(random(mib), mib)
		return errors.Join(err, f.Truncate(4*mib))
	}, Map{Size: 4 * mib, Hole: 3 * mib}, "are holes"},
	// Blocks behind the end make up for the hole in a count of blocks.
	{"a hole, and more allocated behind the end", func(f *os.File) error {
		_, err := f.WriteAt(random(mib), 3*mib)
		return errors.Join(err, unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 4*mib, 4*mib))
	}, Map{Size: 4 * mib, Hole: 3 * mib}, "are holes"},
}

func testOn(t *testing.T, dir string) {
	for _, tc := range files {
		t.Run(tc.name, func(t *testing.T) {
			f, err := os.Create(filepath.Join(dir, strings.ReplaceAll(tc.name, " ", "-")))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := tc.make(f); errors.Is(err, unix.EOPNOTSUPP) {
				t.Skipf("fallocate in %s: %v", dir, err)
			} else if err != nil {
				t.Fatal(err)
			}
			m, err := Of(t.Context(), f, tc.want.Size)
			if err != nil {
				t.Fatal(err)
			}
			if m.clean() && tc.says != "" && !supported(t, f) {
				t.Skipf("the file system of %s has no FIEMAP", dir)
			}
			if m != tc.want {
				t.Errorf("%+v, want %+v", m, tc.want)
			}
			if err := m.Err(); (err != nil) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v, want %q", err, tc.says)
			}
		})
	}
}

func supported(t *testing.T, f *os.File) bool {
	t.Helper()
	q := &fiemap{length: 1}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), ioctlFiemap, uintptr(unsafe.Pointer(q)))
	return errno == 0
}

// Real files, where temporary ones lie (TMPDIR).
func TestOf(t *testing.T) { testOn(t, t.TempDir()) }

// And on the other file systems that have extents, on loop devices, for root.
func TestOfFileSystems(t *testing.T) {
	for _, tc := range []struct{ name, options string }{{"ext4", ""}, {"xfs", ""}, {"btrfs", "compress-force=zstd"}} {
		t.Run(tc.name, func(t *testing.T) {
			dir := mounted(t, tc.name, "")
			testOn(t, dir)
			if tc.name != "btrfs" {
				return
			}
			dir = mounted(t, tc.name, tc.options)
			path := filepath.Join(dir, "compressed")
			if err := os.WriteFile(path, bytes.Repeat([]byte("readable "), mib), 0o600); err != nil {
				t.Fatal(err)
			}
			wantErr(t, path, 9*mib, "are compressed")
			if err := os.WriteFile(path+"-tiny", []byte("tiny"), 0o600); err != nil {
				t.Fatal(err)
			}
			wantErr(t, path+"-tiny", 4, "the file system's own records")
		})
	}
}

func wantErr(t *testing.T, path string, size int64, want string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := Of(t.Context(), f, size)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Err(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%+v: %v, want %q", m, err, want)
	}
}

// mounted is a directory with a new file system on a loop device.
func mounted(t *testing.T, kind, options string) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount")
	}
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 512*mib)); err != nil {
		t.Fatal(err)
	}
	mount := []string{"mount", "-o", "loop", image, dir}
	if options != "" {
		mount[2] += "," + options
	}
	for _, args := range [][]string{{"mkfs." + kind, "-q", image}, mount} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%v: %v: %s", args, err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// answers are extents, given a batch at a time.
func answers(size int64, each int64, flags func(i int64) uint32, asked *int) asker {
	return func(q *fiemap) error {
		*asked++
		for i := int64(q.start) / each; i < size/each && q.mapped < q.room; i++ {
			e := extent{logical: uint64(i * each), length: uint64(each), flags: flags(i)}
			if i == size/each-1 {
				e.flags |= flagLast
			}
			q.extents[q.mapped] = e
			q.mapped++
		}
		return nil
	}
}

// A file of very many extents is looked at from begin to end if nothing is wrong with it, and not much longer than up to
// what is.
func TestManyExtents(t *testing.T) {
	const each, size = 4096, 4096 * 100000
	for name, tc := range map[string]struct {
		flags func(i int64) uint32
		asked int
		want  Map
	}{
		"written":             {func(int64) uint32 { return 0 }, 196, Map{Size: size}},
		"the last is not":     {func(i int64) uint32 { return flagUnwritten * uint32(i/99999) }, 196, Map{Size: size, Unwritten: each}},
		"none is":             {func(int64) uint32 { return flagUnwritten }, 21, Map{Size: size, Unwritten: 21 * batch * each, Partial: true}},
		"encrypted":           {func(int64) uint32 { return flagEncoded | flagEncrypted }, 196, Map{Size: size}},
		"every other encoded": {func(i int64) uint32 { return flagEncoded * uint32(i%2) }, 21, Map{Size: size, Encoded: 21 * batch / 2 * each, Partial: true}},
	} {
		asked := 0
		m, err := of(t.Context(), size, answers(size, each, tc.flags, &asked))
		if err != nil || m != tc.want || asked != tc.asked {
			t.Errorf("%s: %+v, %v after %d requests; want %+v after %d", name, m, err, asked, tc.want, tc.asked)
		}
		if tc.want.Partial && !strings.HasPrefix(m.Err().Error(), "at least ") {
			t.Errorf("%s: %v", name, m.Err())
		}
	}
}

// Where there is no FIEMAP nothing is said; other errors are told, as is an answer that leads nowhere.
func TestRefusals(t *testing.T) {
	if m, err := of(t.Context(), 100, func(*fiemap) error { return unix.EOPNOTSUPP }); err != nil || m != (Map{Size: 100}) {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := of(t.Context(), 100, func(*fiemap) error { return unix.EIO }); !errors.Is(err, unix.EIO) {
		t.Error(err)
	}
	stuck := func(q *fiemap) error { q.mapped = 1; return nil } // an extent of no bytes
	if _, err := of(t.Context(), 100, stuck); err == nil {
		t.Error("an answer that leads nowhere is taken")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := of(ended, 100, stuck); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
