package readtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/readbench/strategy"
)

// control opens the file and evicts it before the strategy is opened. Where that is refused, it is so for any strategy;
// what keeps pages later is the strategy.
func (e *env) control() (*os.File, error) {
	f, err := e.file.Open(0)
	if err != nil {
		return nil, err
	}
	if _, err := (pagecache.Evictor{}).Evict(context.Background(), f, e.file.Size()); err != nil {
		return nil, errors.Join(unsupported(err), f.Close())
	}
	return f, nil
}

// evict removes the file from the page cache, of a mapping's page tables first.
func (e *env) evict(f *os.File) error {
	var evictor pagecache.Evictor
	if m, ok := e.opened.(strategy.Mapper); ok {
		evictor.Unmap = func() error { return m.Drop(0, e.file.Size()) }
	}
	_, err := evictor.Evict(context.Background(), f, e.file.Size())
	if errors.Is(err, pagecache.ErrUnsupported) { // not wrapped: without the strategy it could be evicted
		return fmt.Errorf("the strategy keeps pages of the file (does it map it and is no strategy.Mapper, or does Drop not drop?): %v", err)
	}
	return err
}

// inPageTables is how many bytes of the file are in page tables of this process (Rss of /proc/self/smaps).
func (e *env) inPageTables() (n int64, err error) {
	const smaps = "/proc/self/smaps"
	text, err := os.ReadFile(smaps)
	if err != nil {
		return 0, err
	}
	ours := false
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 3 && fields[0] == "Rss:" && ours:
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %q: %w", smaps, line, err)
			}
			n += kib << 10
		case len(fields) > 0 && !strings.HasSuffix(fields[0], ":"): // where a mapping begins
			ours = strings.HasSuffix(strings.TrimSpace(line), e.file.Path())
		}
	}
	return n, nil
}

// unsupported makes a refusal of the page cache one of readbench.
func unsupported(err error) error {
	if errors.Is(err, pagecache.ErrUnsupported) {
		return strategy.Unsupported("%w", err)
	}
	return err
}
