package datafile

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

const testSize = 2*writeChunk + 3*BlockSize // the last chunk is shorter

func testSpec(path string) Spec { return Spec{Path: path, Size: testSize, Seed: 5} }

func testPath(t *testing.T) string { return filepath.Join(t.TempDir(), "data") }

// requireFile fails unless the file of s is there, whole and right, and nothing else is in its directory.
func requireFile(t *testing.T, s Spec) {
	t.Helper()
	f, err := os.Open(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Size() != s.Size {
		t.Errorf("size %d, %v, want %d", st.Size(), err, s.Size)
	}
	if err := New(s.Seed).CheckAll(context.Background(), f, s.Size, nil); err != nil {
		t.Error(err)
	}
	requireOnly(t, s.Path)
}

// requireOnly fails unless the directory of path holds path and nothing else, or nothing at all if path is its
// absent file.
func requireOnly(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s is left beside it", e.Name())
		}
	}
}

func requireMade(t *testing.T, s Spec, want bool) {
	t.Helper()
	made, err := Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if made != want {
		t.Errorf("made is %v, want %v", made, want)
	}
	requireFile(t, s)
}

func TestCreateMakesTheFile(t *testing.T) {
	for _, size := range []int64{BlockSize, writeChunk - BlockSize, writeChunk, writeChunk + BlockSize, testSize} {
		s := testSpec(testPath(t))
		s.Size = size
		var reached atomic.Int64
		s.Progress = func(done int64) { reached.Store(max(reached.Load(), done)) }
		requireMade(t, s, true)
		if reached.Load() != size {
			t.Errorf("size %d: progress ends at %d", size, reached.Load())
		}
	}
}

func TestCreateRefusesSizes(t *testing.T) {
	for _, size := range []int64{0, -BlockSize, 1, BlockSize - 1, BlockSize + 1} {
		s := testSpec(testPath(t))
		s.Size = size
		if _, err := Create(t.Context(), s); err == nil || !strings.Contains(err.Error(), "not a positive multiple of 4096") {
			t.Errorf("size %d: %v", size, err)
		}
		requireAbsent(t, s.Path)
	}
}

func requireAbsent(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there: %v", path, err)
	}
	requireOnly(t, path)
}

// A file of the right size and seed is left alone, to the inode.
func TestCreateLeavesTheRightFileAlone(t *testing.T) {
	s := testSpec(testPath(t))
	requireMade(t, s, true)
	before, err := os.Stat(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	requireMade(t, s, false)
	after, err := os.Stat(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("the file was made again, or written")
	}
}

// Forced, it makes the right file again: another inode, so whoever has the old one open keeps it.
func TestCreateForced(t *testing.T) {
	s := testSpec(testPath(t))
	requireMade(t, s, true)
	before, err := os.Open(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	s.Force = true
	requireMade(t, s, true)
	old, err := before.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if now, err := os.Stat(s.Path); err != nil || os.SameFile(old, now) {
		t.Errorf("it is the same file, or gone: %v", err)
	}
	if err := New(s.Seed).CheckAll(t.Context(), before, s.Size, nil); err != nil {
		t.Errorf("the old one, still open: %v", err)
	}
}

// A file that is another one is replaced: a new file takes its place in one step.
func TestCreateReplacesAnotherFile(t *testing.T) {
	for rule, p := range map[string][]byte{
		"too short":                 filled(5, 0, testSize-BlockSize),
		"too long":                  filled(5, 0, testSize+BlockSize),
		"of another seed":           filled(6, 0, testSize),
		"empty":                     nil,
		"no data file at all":       make([]byte, testSize),
		"half a block of the right": filled(5, 0, BlockSize/2),
	} {
		t.Run(rule, func(t *testing.T) {
			s := testSpec(testPath(t))
			if err := os.WriteFile(s.Path, p, 0o644); err != nil {
				t.Fatal(err)
			}
			requireMade(t, s, true)
		})
	}
}

// What a process that died has left is used up, however long it is and whatever is in it.
func TestCreateStartsOverInALeftPart(t *testing.T) {
	for rule, p := range map[string][]byte{
		"empty":           nil,
		"half of another": filled(6, 0, testSize/2),
		"longer":          filled(6, 0, testSize+writeChunk),
	} {
		t.Run(rule, func(t *testing.T) {
			s := testSpec(testPath(t))
			if err := os.WriteFile(s.Path+".part", p, 0o644); err != nil {
				t.Fatal(err)
			}
			requireMade(t, s, true)
		})
	}
}

// Cancelled, before or in the middle, it leaves neither the file nor a part of it, and a file that it would
// have replaced as it was.
func TestCreateCancelled(t *testing.T) {
	for _, c := range []struct {
		rule   string
		early  bool
		before []byte
	}{
		{"before it begins", true, nil},
		{"after the first chunk", false, nil},
		{"with another file in its place", false, filled(6, 0, BlockSize)},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := testSpec(testPath(t))
			s.Size = 16 * writeChunk
			if c.before != nil {
				if err := os.WriteFile(s.Path, c.before, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.early {
				cancel()
			}
			s.Progress = func(int64) { cancel() }
			made, err := Create(ctx, s)
			if made || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), s.Path) {
				t.Errorf("made %v, error %v", made, err)
			}
			if c.before == nil {
				requireAbsent(t, s.Path)
				return
			}
			if got, err := os.ReadFile(s.Path); err != nil || string(got) != string(c.before) {
				t.Errorf("the file that was there is changed: %v", err)
			}
			requireOnly(t, s.Path)
		})
	}
}

// While somebody else makes the file, a caller waits as long as its context allows. It does not touch the other
// one's part.
func TestCreateGivesUpWaiting(t *testing.T) {
	s := testSpec(testPath(t))
	other, err := os.Create(s.Path + ".part")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := unix.Flock(int(other.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	made, err := Create(ctx, s)
	if made || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "waiting for the process") ||
		!strings.Contains(err.Error(), s.Path) {
		t.Errorf("made %v, error %v", made, err)
	}
	if _, err := os.Stat(s.Path + ".part"); err != nil {
		t.Errorf("the other one's part: %v", err)
	}
}

// An error names the path.
func TestCreateNamesThePathThatFails(t *testing.T) {
	file := testPath(t)
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for rule, path := range map[string]string{
		"no such directory":        filepath.Join(t.TempDir(), "missing", "data"),
		"its directory is a file":  filepath.Join(file, "data"),
		"its place is a directory": t.TempDir(),
	} {
		made, err := Create(t.Context(), testSpec(path))
		if made || err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: made %v, error %v", rule, made, err)
		}
		if _, err := os.Lstat(path + ".part"); err == nil {
			t.Errorf("%s: the part is left", rule)
		}
	}
}

// However many want the file at once, in this process and in others: exactly one makes it, all succeed.
func TestCreateOnceAmongMany(t *testing.T) {
	for _, c := range []struct {
		rule                  string
		goroutines, processes int
	}{
		{"goroutines", 8, 0},
		{"processes", 0, 2},
		{"both", 3, 2},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := testSpec(testPath(t))
			var made atomic.Int64
			var wg sync.WaitGroup
			start := make(chan struct{})
			for range c.processes {
				ready, finish := startCreate(t, s.Path)
				ready()
				wg.Go(func() {
					<-start
					if finish() {
						made.Add(1)
					}
				})
			}
			for range c.goroutines {
				wg.Go(func() {
					<-start
					m, err := Create(t.Context(), s)
					if err != nil {
						t.Error(err)
					}
					if m {
						made.Add(1)
					}
				})
			}
			close(start)
			wg.Wait()
			if made.Load() != 1 {
				t.Errorf("%d of them made it", made.Load())
			}
			requireFile(t, s)
		})
	}
}

// startCreate starts another process that makes the file once finish lets it. ready waits until it could.
func startCreate(t *testing.T, path string) (ready func(), finish func() (made bool)) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleEnv+"=create", pathEnv+"="+path, "GORACE=atexit_sleep_ms=0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	ready = func() {
		if line, err := said.ReadString('\n'); line != "ready\n" {
			t.Errorf("the process says %q, %v", line, err)
		}
	}
	finish = func() bool {
		in.Close()
		rest, readErr := io.ReadAll(said)
		if err := errors.Join(readErr, cmd.Wait()); err != nil {
			t.Errorf("the process: %v: %s", err, rest)
		}
		return strings.Contains(string(rest), "made: true")
	}
	return ready, finish
}
