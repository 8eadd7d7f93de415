//go:build !linux

package iobuf

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// A Buffer is memory of Go's, which does not move. It is safe for concurrent use as far as its bytes are.
type Buffer struct{ p []byte }

// New makes a buffer of n bytes, at least 1, all zero. There is no way here to ask for huge pages.
func New(n int, huge bool) (*Buffer, error) {
	if n < 1 {
		return nil, fmt.Errorf("a buffer of %d bytes", n)
	}
	page := os.Getpagesize()
	all := make([]byte, n+page)
	skip := int(-uintptr(unsafe.Pointer(&all[0])) & uintptr(page-1))
	return &Buffer{all[skip : skip+n : skip+n]}, nil
}

// Bytes are the buffer's, nil once it is closed.
func (b *Buffer) Bytes() []byte { return b.p }

// Huge is how many bytes of the buffer are known to be in huge pages.
func (b *Buffer) Huge() (int64, error) { return 0, nil }

// Close gives the memory back. The bytes must not be touched any more.
func (b *Buffer) Close() error {
	b.p = nil
	return nil
}

// Setting is what this machine does when it is asked for huge pages, for people.
func Setting() string { return "huge pages are not asked for on " + runtime.GOOS }
