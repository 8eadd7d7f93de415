// Package notice prints lines for people on standard error.
//
// "go test" sends standard error into its standard output, where benchmark results are read by programs. So
// each line starts with "# ", which is neither a result nor a configuration line of the benchmark format, and
// lines are held back while the testing package has half a result line on the output.
package notice

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

const prefix = "# readbench: "

var (
	mu   sync.Mutex
	held bool
	kept []string
)

// Printf prints one line, or keeps it until Release; what has several lines becomes several. It is safe for
// concurrent use.
func Printf(format string, args ...any) {
	text := strings.TrimSuffix(fmt.Sprintf(format, args...), "\n")
	line := prefix + strings.ReplaceAll(text, "\n", "\n"+prefix)
	mu.Lock()
	defer mu.Unlock()
	if held && sameFile(os.Stdout, os.Stderr) {
		kept = append(kept, line)
		return
	}
	fmt.Fprintln(os.Stderr, line)
}

// Hold keeps lines back from now on, if standard error and standard output are one file.
func Hold() {
	mu.Lock()
	defer mu.Unlock()
	held = true
}

// Release prints what was kept and ends Hold. It is for a moment when the output stands at the start of a line.
func Release() {
	mu.Lock()
	defer mu.Unlock()
	for _, line := range kept {
		fmt.Fprintln(os.Stderr, line)
	}
	held, kept = false, nil
}

// patience is how long people wait before they want to know: a variable for tests.
var patience = 2 * time.Second

// Slow says what is going on if it takes longer than a patient person waits (2 s), and again ever more rarely. The
// caller calls stop at the end, once; afterwards nothing more is printed.
func Slow(format string, args ...any) (stop func()) {
	what := fmt.Sprintf(format, args...)
	start := time.Now()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for wait := patience; ; wait *= 2 {
			select {
			case <-done:
				return
			case <-time.After(wait):
				Printf("still %s (%.0f s so far)", what, time.Since(start).Seconds())
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

func sameFile(a, b *os.File) bool {
	sa, errA := a.Stat()
	sb, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(sa, sb)
}
