package datafile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Another process may finish between a look at the file and the opening of the part, which is then a new, empty
// one: it is removed, and the file is not made twice.
func TestLockPartRemovesAPartThatIsOfNoUse(t *testing.T) {
	name := testPath(t) + ".part"
	looks := 0
	f, err := lockPart(t.Context(), name, func() bool { looks++; return looks > 1 })
	if f != nil || err != nil {
		t.Errorf("file %v, error %v", f, err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the part is left: %v", err)
	}
}

// waiting is a context that tells when somebody waits for its end: in flock, with the part file open.
type waiting struct {
	context.Context
	once func()
}

func (w waiting) Done() <-chan struct{} {
	w.once()
	return w.Context.Done()
}

// Who had the lock may have renamed or removed the part, which those that waited have open. They lock the one
// that has its name then.
func TestLockPartLocksTheFileOfThatName(t *testing.T) {
	for what, away := range map[string]func(name string) error{
		"renamed": func(name string) error { return os.Rename(name, name+".done") },
		"removed": os.Remove,
		"replaced": func(name string) error {
			return errors.Join(os.Remove(name), os.WriteFile(name, nil, 0o644))
		},
	} {
		t.Run(what, func(t *testing.T) {
			name := testPath(t) + ".part"
			holder, err := os.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			defer holder.Close()
			if err := unix.Flock(int(holder.Fd()), unix.LOCK_EX); err != nil {
				t.Fatal(err)
			}
			ctx := waiting{t.Context(), sync.OnceFunc(func() {
				if err := errors.Join(away(name), holder.Close()); err != nil {
					t.Error(err)
				}
			})}
			f, err := lockPart(ctx, name, func() bool { return false })
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			mine, mineErr := f.Stat()
			now, nowErr := os.Stat(name)
			if err := errors.Join(mineErr, nowErr); err != nil || !os.SameFile(mine, now) {
				t.Errorf("the file that it locked is not the one at %s: %v", name, err)
			}
		})
	}
}
