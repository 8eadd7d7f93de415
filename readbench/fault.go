package readbench

import (
	"fmt"
	"runtime"
)

// recoverFault is deferred around what touches mappings: it turns a memory fault, which debug.SetPanicOnFault
// made a panic, into an error. Any other panic goes on.
func (r *running) recoverFault(err *error) {
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
	for _, f := range r.files {
		if st, statErr := f.control.Stat(); statErr == nil && st.Mode().IsRegular() && st.Size() < f.size {
			why = fmt.Sprintf("it was truncated from %d to %d bytes while it was mapped", f.size, st.Size())
		}
	}
	*err = fmt.Errorf("%s: memory fault at %#x while reading %s: %s", r.row.Strategy.Name(), fault.Addr(), r.files, why)
}
