package iobuf

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Buffer is memory outside of Go's heap. It is safe for concurrent use as far as its bytes are.
type Buffer struct {
	all  unsafe.Pointer // what was mapped: the bytes, and pages that nobody may touch before and behind them
	size uintptr
	p    []byte
}

// New makes a buffer of n bytes, at least 1, all zero. If huge is set it is in huge pages, as far as the kernel has some to give
// and lets itself be asked for them (Huge tells). The caller closes it when nothing is read into it any more.
func New(n int, huge bool) (*Buffer, error) {
	if n < 1 {
		return nil, fmt.Errorf("a buffer of %d bytes", n)
	}
	page := os.Getpagesize()
	unit := page
	if h := hugePage(); huge && h > 0 && roundUp(n, h)-n <= Waste {
		unit = h
	}
	length := roundUp(n, unit)
	// At least a page is left on both sides. So the kernel never counts this mapping and a neighbour as one, and Huge
	// can tell what is this one's.
	b := &Buffer{size: uintptr(length + unit + page)}
	var err error
	if b.all, err = unix.MmapPtr(-1, 0, nil, b.size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE); err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", b.size, err)
	}
	before := unit - int(uintptr(b.all)&uintptr(unit-1))
	p := unsafe.Slice((*byte)(unsafe.Add(b.all, before)), length)
	if err := unix.Mprotect(p, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return nil, errors.Join(fmt.Errorf("mprotect of %d bytes: %w", length, err), b.Close())
	}
	if unit > page {
		if err := unix.Madvise(p, unix.MADV_HUGEPAGE); err != nil {
			return nil, errors.Join(fmt.Errorf("madvise HUGEPAGE on %d bytes: %w", length, err), b.Close())
		}
	}
	for i := 0; i < length; i += page { // the first touch of a page gets it
		p[i] = 0
	}
	b.p = p[:n:n]
	return b, nil
}

// Bytes are the buffer's, nil once it is closed.
func (b *Buffer) Bytes() []byte { return b.p }

// Huge asks the kernel how many bytes of the buffer, rounded up to pages, are in huge pages now.
func (b *Buffer) Huge() (int64, error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0, fmt.Errorf("huge pages of a buffer: %w", err)
	}
	defer f.Close()
	from := uint64(uintptr(b.all))
	n, err := hugeIn(f, from, from+uint64(b.size))
	if err != nil {
		return 0, fmt.Errorf("huge pages of a buffer, by %s: %w", f.Name(), err)
	}
	return n, nil
}

// Close gives the memory back. The bytes must not be touched any more.
func (b *Buffer) Close() error {
	if b.all == nil {
		return nil
	}
	if err := unix.MunmapPtr(b.all, b.size); err != nil {
		return fmt.Errorf("munmap of %d bytes: %w", b.size, err)
	}
	b.all, b.p = nil, nil
	return nil
}

// hugePage is how large the kernel's transparent huge pages are, in bytes, a power of two; 0 if it has none.
var hugePage = sync.OnceValue(func() int {
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n&(n-1) != 0 || n <= os.Getpagesize() {
		return 0
	}
	return n
})

// Setting is what this machine does when it is asked for huge pages, for people.
func Setting() string {
	const name = "/sys/kernel/mm/transparent_hugepage/enabled"
	text, err := os.ReadFile(name)
	if err != nil {
		return "this kernel was built without transparent huge pages (CONFIG_TRANSPARENT_HUGEPAGE)"
	}
	_, rest, _ := strings.Cut(string(text), "[")
	chosen, _, _ := strings.Cut(rest, "]")
	if chosen == "never" {
		return name + " is never: echo madvise > " + name + " allows them"
	}
	return fmt.Sprintf("%s is %s, huge pages have %d bytes: is there unfragmented memory left?", name, chosen, hugePage())
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
