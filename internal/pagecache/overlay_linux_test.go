package pagecache

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/testfile"
)

// On overlayfs, where containers live, the pages are those of the file below: warm, resident and evicted are seen all the same.
func TestOverlay(t *testing.T) {
	base := t.TempDir()
	testfile.RequireDisk(t, base)
	dirs := map[string]string{}
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		dirs[name] = filepath.Join(base, name)
		if err := os.Mkdir(dirs[name], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	options := "lowerdir=" + dirs["lower"] + ",upperdir=" + dirs["upper"] + ",workdir=" + dirs["work"]
	if err := unix.Mount("overlay", dirs["merged"], "overlay", 0, options); err != nil {
		t.Skipf("mounting an overlay (needs root): %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dirs["merged"], 0); err != nil {
			t.Error(err)
		}
	})
	const pages = 64
	path := filepath.Join(dirs["merged"], "data")
	if err := os.WriteFile(path, random(pages*page), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	evict(t, f, pages*page)
	if err := Warm(t.Context(), f, pages*page); err != nil {
		t.Fatal(err)
	}
	if r, err := Resident(f, 0, pages*page); err != nil || r != (Residency{Pages: pages, Resident: pages}) {
		t.Errorf("warm: %v, %v", r, err)
	}
	evict(t, f, pages*page)
}
