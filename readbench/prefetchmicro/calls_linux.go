//go:build !386 && !arm && !mips && !mipsle

package prefetchmicro

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/readbench/strategy"
)

// span is the mapping's pages that hold r.
func (c *caller) span(r strategy.Range) []byte {
	start, n := mapping.RoundOut(r.Off, r.N, c.page, c.size)
	return c.data[start : start+n]
}

// pagesOf is how many pages n bytes from the start of one touch. (&63 tells the compiler that the shift is one.)
func (c *caller) pagesOf(n int64) int64 { return (n + c.page - 1) >> (c.pageShift & 63) }

func doMincore(c *caller, rs []strategy.Range) error {
	p := c.span(rs[0])
	pages := c.pages[:c.pagesOf(int64(len(p)))]
	if err := c.kernel.mincore(p, pages); err != nil {
		return fmt.Errorf("mincore of %d bytes: %w", len(p), err)
	}
	all := byte(1)
	for _, resident := range pages {
		all &= resident
	}
	c.calls++
	c.probed++
	c.missed += uint64(1 - all)
	return nil
}

func doCachestat(c *caller, rs []strategy.Range) error {
	start, n := mapping.RoundOut(rs[0].Off, rs[0].N, c.page, c.size)
	c.within = unix.CachestatRange{Off: uint64(start), Len: uint64(n)}
	if err := c.kernel.cachestat(uint(c.fd), &c.within, &c.stat, 0); err != nil {
		return fmt.Errorf("cachestat of %d bytes at %d: %w", n, start, err)
	}
	c.calls++
	c.probed++
	if c.stat.Cache < uint64(c.pagesOf(n)) {
		c.missed++
	}
	return nil
}

func doNowait(c *caller, rs []strategy.Range) error {
	start, n := mapping.RoundOut(rs[0].Off, rs[0].N, c.page, c.size)
	c.probed++
	for off := start; off < start+n; off += c.page {
		c.reads++
		switch got, err := c.kernel.nowait(c.fd, c.byte1[:], off); {
		case err == nil && got == 1:
			c.calls++
		case errors.Is(err, unix.EAGAIN):
			c.missed++
			return nil
		case errors.Is(err, unix.EINTR):
			c.retried++
			off -= c.page
		case err == nil:
			return fmt.Errorf("preadv2 NOWAIT of a byte at %d: %d bytes", off, got)
		default:
			return fmt.Errorf("preadv2 NOWAIT of a byte at %d: %w", off, err)
		}
	}
	return nil
}

func doMadvise(c *caller, rs []strategy.Range) error {
	p := c.span(rs[0])
	if err := c.kernel.madvise(p, unix.MADV_WILLNEED); err != nil {
		return fmt.Errorf("madvise WILLNEED on %d bytes: %w", len(p), err)
	}
	c.calls++
	return nil
}

func doPopulate(c *caller, rs []strategy.Range) error {
	p := c.span(rs[0])
	for {
		switch err := c.kernel.madvise(p, unix.MADV_POPULATE_READ); {
		case err == nil:
			c.calls++
			return nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			c.retried++
		default:
			return fmt.Errorf("madvise POPULATE_READ on %d bytes: %w", len(p), err)
		}
	}
}

func doProcessMadvise(c *caller, rs []strategy.Range) error {
	total := 0
	for i, r := range rs {
		p := c.span(r)
		c.iovs[i].Base = unsafe.SliceData(p)
		c.iovs[i].SetLen(len(p))
		total += len(p)
	}
	switch n, err := c.kernel.processMadvise(c.pidfd, c.iovs, unix.MADV_WILLNEED); {
	case err != nil:
		return fmt.Errorf("process_madvise WILLNEED on %d ranges: %w", len(rs), err)
	case n != total:
		return fmt.Errorf("process_madvise WILLNEED on %d ranges: it advised %d of %d bytes", len(rs), n, total)
	}
	c.calls++
	return nil
}

func doFadvise(c *caller, rs []strategy.Range) error {
	start, n := mapping.RoundOut(rs[0].Off, rs[0].N, c.page, c.size)
	if err := c.kernel.fadvise(c.fd, start, n, unix.FADV_WILLNEED); err != nil {
		return fmt.Errorf("posix_fadvise WILLNEED on %d bytes at %d: %w", n, start, err)
	}
	c.calls++
	return nil
}

func doReadahead(c *caller, rs []strategy.Range) error {
	start, n := mapping.RoundOut(rs[0].Off, rs[0].N, c.page, c.size)
	if err := c.kernel.readahead(c.fd, start, n); err != nil {
		return fmt.Errorf("readahead of %d bytes at %d: %w", n, start, err)
	}
	c.calls++
	return nil
}
