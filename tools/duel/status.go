package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// A status is a line on a terminal that says what is going on; elsewhere it is nothing.
type status struct {
	w     io.Writer
	width int // of the terminal; 0: none
}

func newStatus(w io.Writer) *status {
	s := &status{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.width, _, _ = term.GetSize(int(f.Fd()))
	}
	return s
}

func (s *status) show(format string, args ...any) {
	if s.width > 0 {
		text := []rune(fmt.Sprintf(format, args...))
		fmt.Fprintf(s.w, "\r\x1b[K%s", string(text[:min(len(text), s.width-1)]))
	}
}

// clear removes the line.
func (s *status) clear() {
	if s.width > 0 {
		fmt.Fprint(s.w, "\r\x1b[K")
	}
}
