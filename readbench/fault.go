package readbench

import (
	"fmt"
	"runtime"

	"github.com/readbench/suite/internal/files"
)

// recoverFault returns what is deferred around whatever touches mappings of fs: it turns a memory fault, which
// debug.SetPanicOnFault made a panic, into an error. Any other panic goes on.
func recoverFault(strategyName string, fs files.Set) func(err *error) {
	return func(err *error) {
		p := recover()
		if p == nil {
			return
		}
		fault, ok := p.(interface {
			runtime.Error
			Addr() uintptr
		})
		if !ok {
			panic(p)
		}
		why := "its device or file system failed to deliver a page (see dmesg)"
		for _, f := range fs {
			if st, statErr := f.Control.Stat(); statErr == nil && st.Mode().IsRegular() && st.Size() < f.Size() {
				why = fmt.Sprintf("it was truncated from %d to %d bytes while it was mapped", f.Size(), st.Size())
			}
		}
		*err = fmt.Errorf("%s: memory fault at %#x while reading %s: %s", strategyName, fault.Addr(), fs, why)
	}
}
