// Package iobuf is memory for the kernel to read into past the page cache: it starts at the start of a page, is there from
// the beginning, never moves, and lies in huge pages where it may.
//
// What huge pages do for a direct read: the kernel looks up and pins every page of the buffer for every read, and the
// device gets a segment for every run of pages that happen to lie together. A read of 16 KiB into pages of 4 KiB is
// four of each, into a huge page it is one; and one of 1 MiB into pages of 4 KiB is more than one request on a device that takes
// fewer than 256 segments.
package iobuf

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Waste is how many bytes may be added to a buffer at the most to fill huge pages. A machine whose huge pages are so
// large that more would be needed gets ordinary ones.
const Waste = 2 << 20

// hugeIn adds up what smaps, of the form of /proc/PID/smaps, says of huge pages in the mappings between two addresses.
// It reads no further than it has to.
func hugeIn(smaps io.Reader, from, to uint64) (bytes int64, err error) {
	lines := bufio.NewScanner(smaps)
	inside := false
	for lines.Scan() {
		first, rest, _ := strings.Cut(lines.Text(), " ")
		if lo, hi, ok := strings.Cut(first, "-"); ok { // a mapping's first line: "55e0f5a00000-55e0f5a21000 rw-p …"
			start, err := strconv.ParseUint(lo, 16, 64)
			if err != nil {
				return 0, fmt.Errorf("a mapping that starts at %q: %w", lo, err)
			}
			end, err := strconv.ParseUint(hi, 16, 64)
			if err != nil {
				return 0, fmt.Errorf("a mapping that ends at %q: %w", hi, err)
			}
			if start >= to {
				break
			}
			inside = start >= from && end <= to
			continue
		}
		if !inside || first != "AnonHugePages:" { // "AnonHugePages:      2048 kB"
			continue
		}
		text := strings.TrimSpace(rest)
		kib, err := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
		if err != nil || kib < 0 || kib > (math.MaxInt64-bytes)/1024 {
			return 0, fmt.Errorf("AnonHugePages of %q, want a number of kB", text)
		}
		bytes += kib * 1024
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return bytes, nil
}
