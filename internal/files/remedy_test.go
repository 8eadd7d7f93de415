package files

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The command of an error, pasted into a shell, makes a file that can be read, be the path what it may.
func TestRemedyPasted(t *testing.T) {
	const size = 1 << 20
	name := "it's a $HOME `of` data.bin"
	for _, tc := range []struct {
		name       string
		make       func(t *testing.T, path string) error
		begin, end string // around the command
		made       string // behind the path
		settings   []string
	}{
		{"missing", func(*testing.T, string) error { return nil }, "a right one is made by: ", "", "", []string{"SIZE=1MiB", "SEED=7"}},
		{"damaged", func(t *testing.T, path string) error {
			return errors.Join(dataFile(size, 7)(t, path), overwrite(path, size-1, []byte{0}))
		}, "a right one is made by: ", "", "", []string{"SEED=7"}},
		{"sparse", func(_ *testing.T, path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, size))
		}, "a full copy is made by: ", ")", ".full", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			if err := tc.make(t, path); err != nil {
				t.Fatal(err)
			}
			_, err := openTest(t, path, tc.settings...)
			wantError(t, err, tc.begin)
			_, command, _ := strings.Cut(err.Error(), tc.begin)
			if tc.end != "" {
				command, _, _ = strings.Cut(command, tc.end)
			}
			if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
			if _, err := openTest(t, path+tc.made, tc.settings...); err != nil {
				t.Errorf("%s: %v", command, err)
			}
		})
	}
}
