// Package mapping maps files for reading and asks the kernel things about the mapping.
package mapping

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Advice is what a whole mapping is advised, once.
type Advice int

// The advices. Normal is what a mapping has without any.
const (
	Normal Advice = iota
	Random
	Sequential
)

func (a Advice) String() string {
	switch a {
	case Normal:
		return "normal"
	case Random:
		return "random"
	case Sequential:
		return "sequential"
	}
	return fmt.Sprintf("Advice(%d)", int(a))
}

// A Map is a read-only shared mapping of the first bytes of a file. Its methods are safe for concurrent use,
// Close excepted.
type Map struct {
	data []byte
	page int64
	name string
}

// Open maps the first size bytes of f. page is the granularity to which hints are rounded: the system's page size or
// a multiple. f may be closed afterwards.
func Open(f *os.File, size int64, page int) (*Map, error) {
	if size <= 0 || size != int64(int(size)) {
		return nil, fmt.Errorf("mmap %s: cannot map %d bytes", f.Name(), size)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap %s, %d bytes: %w", f.Name(), size, err)
	}
	return &Map{data, int64(page), f.Name()}, nil
}

// Bytes is the mapping. It must not be used after Close. Reading it beyond the end of a file that was truncated
// in the meantime faults: see debug.SetPanicOnFault.
func (m *Map) Bytes() []byte { return m.data }

// RoundOut returns the page-aligned range that covers the n bytes at off, n ≥ 1, cut at the end of a file of the given
// size: madvise wants its start on a page, and takes any length.
func RoundOut(off int64, n int, page, size int64) (start, length int64) {
	start = off &^ (page - 1)
	end := (off + int64(n) + page - 1) &^ (page - 1)
	return start, min(end, size) - start
}

// Advise gives advice on the whole mapping.
func (m *Map) Advise(a Advice) error {
	advice, ok := map[Advice]int{Normal: unix.MADV_NORMAL, Random: unix.MADV_RANDOM, Sequential: unix.MADV_SEQUENTIAL}[a]
	if !ok {
		return fmt.Errorf("madvise on all of %s: no such advice: %s", m.name, a)
	}
	if err := unix.Madvise(m.data, advice); err != nil {
		return fmt.Errorf("madvise %s on all of %s: %w", a, m.name, err)
	}
	return nil
}

// WillNeed asks the kernel to start reading the pages of the n bytes at off. It does not allocate unless it fails.
func (m *Map) WillNeed(off int64, n int) error {
	start, length := RoundOut(off, n, m.page, int64(len(m.data)))
	if err := unix.Madvise(m.data[start:start+length], unix.MADV_WILLNEED); err != nil {
		return fmt.Errorf("madvise WILLNEED on %d bytes at %d of %s: %w", length, start, m.name, err)
	}
	return nil
}

// Close unmaps.
func (m *Map) Close() error {
	if m.data == nil {
		return errors.New("munmap: closed already")
	}
	err := unix.Munmap(m.data)
	m.data = nil
	if err != nil {
		return fmt.Errorf("munmap %s: %w", m.name, err)
	}
	return nil
}
