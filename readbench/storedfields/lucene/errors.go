package lucene

import (
	"errors"
	"fmt"
	"strings"
)

// ErrCorrupt is wrapped by errors about files of a known format whose contents cannot be right: a wrong checksum, a
// length that leads out of the file, files of two segments mixed up.
var ErrCorrupt = errors.New("corrupt index")

// ErrUnknownFormat is wrapped by errors about files that may be in order but that this package cannot read: an
// unknown codec name or version, a file that is encrypted or was not written by the library at all.
var ErrUnknownFormat = errors.New("unknown format")

// An Error tells what is wrong with which file and where. It wraps ErrCorrupt or ErrUnknownFormat.
type Error struct {
	File    string // the file's path; inside a compound file "PATH(.fdt)"
	Chunk   int    // index of the chunk in its segment, or -1 if the error is not about one
	Block   int    // part of the chunk: 0 its dictionary, 1 the first sub-block, …; -1 if it is not about one
	Offset  int64  // bytes from the start of File (of the inner file, in a compound one), or -1 if unknown
	Problem string // what was found and what was expected
	kind    error
}

// Error says file, chunk, block and offset as far as they are known, then the problem.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Chunk >= 0 {
		fmt.Fprintf(&b, ", chunk %d", e.Chunk)
	}
	if e.Block == 0 {
		b.WriteString(", dictionary")
	} else if e.Block > 0 {
		fmt.Fprintf(&b, ", block %d", e.Block)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, ", offset %d", e.Offset)
	}
	return b.String() + ": " + e.kind.Error() + ": " + e.Problem
}

// Unwrap returns ErrCorrupt or ErrUnknownFormat.
func (e *Error) Unwrap() error { return e.kind }

func corrupt(file string, off int64, format string, args ...any) *Error {
	return &Error{File: file, Chunk: -1, Block: -1, Offset: off, Problem: fmt.Sprintf(format, args...), kind: ErrCorrupt}
}

func unknown(file string, format string, args ...any) *Error {
	return &Error{File: file, Chunk: -1, Block: -1, Offset: 0, Problem: fmt.Sprintf(format, args...), kind: ErrUnknownFormat}
}
