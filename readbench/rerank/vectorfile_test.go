package rerank

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// makeIn makes the file of vectors in a directory, and returns its path and what it should be.
func makeIn(t *testing.T, dir string, settings ...string) (string, layout, *space) {
	t.Helper()
	c := load(t, settings...)
	l, err := newLayout(c)
	if err != nil {
		t.Fatal(err)
	}
	s := newSpace(c.Seed, l.dim, l.vectors)
	path := filepath.Join(dir, "deep", "vectors.bin")
	if err := makeFile(t.Context(), path, l, s); err != nil {
		t.Fatal(err)
	}
	return path, l, s
}

// The file holds every vector at its place, and zeros elsewhere.
func TestFile(t *testing.T) {
	for _, settings := range [][]string{
		{"DIM=1"}, {"DIM=1", "ALIGN=packed"}, {"DIM=1025"}, {"DIM=1025", "ALIGN=packed"}, {"DIM=300", "ALIGN=packed", "VECTORS=1"}, {"DIM=100", "ALIGN=packed", "VECTORS=20000"},
	} {
		t.Run(fmt.Sprint(settings), func(t *testing.T) {
			path, l, s := makeIn(t, t.TempDir(), append([]string{"VECTORS=1100"}, settings...)...)
			got, err := os.ReadFile(path)
			if err != nil || int64(len(got)) != l.size() {
				t.Fatalf("%d bytes, want %d, %v", len(got), l.size(), err)
			}
			want, v := make([]byte, l.size()), make([]float32, l.dim)
			for n := range l.vectors {
				s.vector(v, n)
				copy(want[l.place(int32(n)).Off:], asBytes(v))
			}
			if !slices.Equal(got, want) {
				t.Error("wrong content")
			}
		})
	}
}

// A file that is there is used; one that is not the right one is made anew, and so is one that was left half written.
func TestFileIsReused(t *testing.T) {
	dir := t.TempDir()
	path, l, s := makeIn(t, dir, "VECTORS=50", "DIM=30")
	first, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	again := func() bool {
		t.Helper()
		before, err := os.Stat(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := makeFile(t.Context(), path, l, s); err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := present(t.Context(), path, l, s); !ok || err != nil {
			t.Errorf("what was made is not right: %v", err)
		}
		return before == nil || !os.SameFile(before, after)
	}
	if again() {
		t.Error("a right file was made anew")
	}
	for name, harm := range map[string]func() error{
		"removed":                func() error { return os.Remove(path) },
		"short":                  func() error { return os.Truncate(path, first.Size()-1) },
		"zeros at its end":       func() error { return errors.Join(os.Truncate(path, 0), os.Truncate(path, first.Size())) },
		"what a dead one left":   func() error { return errors.Join(os.Remove(path), os.WriteFile(path+".part", []byte("half"), 0o600)) },
		"the lock of a dead one": func() error { return errors.Join(os.Remove(path), os.WriteFile(path+".lock", nil, 0o600)) },
	} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		if !again() {
			t.Errorf("%s: it was not made anew", name)
		}
		if _, err := os.Stat(path + ".part"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a part is left: %v", name, err)
		}
	}
}

// Of several that want the file at once one makes it, and the others find it whole.
func TestFileIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.bin")
	l, err := newLayout(load(t, "VECTORS=5000", "DIM=64", "ALIGN=packed"))
	if err != nil {
		t.Fatal(err)
	}
	s := newSpace(1, l.dim, l.vectors)
	files := make([]os.FileInfo, 4)
	var wg sync.WaitGroup
	for i := range files {
		wg.Go(func() {
			err := makeFile(t.Context(), path, l, s)
			if err == nil {
				files[i], err = os.Stat(path)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, f := range files {
		if !os.SameFile(f, files[0]) {
			t.Error("it was made more than once")
		}
	}
}

// Who waits for another process gives up when its time is over, and leaves nothing.
func TestFileTakesTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.bin")
	lock, err := lockFile(t.Context(), path+".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	l, err := newLayout(load(t, "VECTORS=5", "DIM=64"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := makeFile(ctx, path, l, newSpace(1, l.dim, l.vectors)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := makeFile(ctx, path, l, newSpace(1, l.dim, l.vectors)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, name := range []string{path, path + ".part"} {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}
