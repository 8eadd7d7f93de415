package memlimit

import (
	"os"
	"path/filepath"
)

// files is how the kernel is asked and told: names are absolute. Tests have trees of their own, and faults.
type files interface {
	Read(name string) (string, error)
	Write(name, text string) error // in one piece, to a file that exists
	Mkdir(name string) error
	Rmdir(name string) error
	Dirs(name string) ([]string, error) // names of the directories in a directory
	Link(name string) (string, error)   // what a symbolic link points to
}

// root is the files below a directory: "/" is the machine.
type root string

func (r root) path(name string) string { return filepath.Join(string(r), name) }

func (r root) Read(name string) (string, error) {
	b, err := os.ReadFile(r.path(name))
	return string(b), err
}

func (r root) Write(name, text string) error {
	f, err := os.OpenFile(r.path(name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func (r root) Mkdir(name string) error { return os.Mkdir(r.path(name), 0o755) }

// Rmdir is not os.Remove, which would go on to try unlink, and might report that error.
func (r root) Rmdir(name string) error { return rmdir(r.path(name)) }

func (r root) Dirs(name string) (dirs []string, err error) {
	entries, err := os.ReadDir(r.path(name))
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, e.Name())
		}
	}
	return dirs, err
}

func (r root) Link(name string) (string, error) { return os.Readlink(r.path(name)) }
