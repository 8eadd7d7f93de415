package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// newProgress returns a function to tell the bytes done so far, from any goroutine, and one to call at the end.
// They show a bar if w is a terminal, else progress is nil.
func newProgress(w io.Writer, what string, size int64) (progress func(int64), done func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}
	}
	bar := progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	var (
		mu   sync.Mutex
		last int64
		err  error // the first one of drawing: it ends the bar, not the work
	)
	progress = func(n int64) {
		mu.Lock()
		defer mu.Unlock()
		if n > last && err == nil { // reports may overtake each other
			last, err = n, bar.Set64(n)
		}
	}
	done = func() {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			err = bar.Clear()
		}
		if err != nil {
			fmt.Fprintf(w, "mkfile: drawing the progress bar: %v\n", err)
		}
	}
	return progress, done
}

// speed says how long something took and how fast that was.
func speed(bytes int64, took time.Duration) string {
	seconds := max(took, time.Microsecond).Seconds()
	return fmt.Sprintf("%.2f s, %.0f MB/s", seconds, float64(bytes)/1e6/seconds)
}
