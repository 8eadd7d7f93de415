package strategies

import "github.com/readbench/suite/readbench/strategy"

// A window slides before the cursor of a scan and says what of it is to be hinted: every page once.
type window struct {
	size   int64 // bytes before the cursor that are to be hinted
	page   int64
	end    int64 // where the scan ends
	cursor int64 // where the last read ended; the next one of a scan starts there
	hinted int64 // what lies between the cursor and here was hinted
}

// hintPiece is how much one hint asks for at the most, in bytes; what is longer is hinted piece by piece. Linux cuts a
// hint without a word at the larger of read_ahead_kb and max_sectors_kb of the device (force_page_cache_ra in
// mm/readahead.c), and this is what it has at the least where nobody has lowered them.
const hintPiece = 128 << 10

// newWindow is the window of a worker that has read nothing yet.
func newWindow(f *strategy.File, s strategy.Setup, worker int) window {
	_, end := s.Stripe(f, worker)
	w := window{size: s.Window, page: int64(f.PageSize()), end: end}
	w.Forget()
	return w
}

// advance moves the cursor behind r and returns what is to be hinted before r is read: from an offset to below
// another, nothing if they are equal. A read that is not where the last one ended starts over.
func (w *window) advance(r strategy.Range) (from, to int64) {
	if r.Off != w.cursor {
		w.hinted = r.Off &^ (w.page - 1)
	}
	w.cursor = r.Off + int64(r.N)
	to = min((w.cursor+w.size+w.page-1)&^(w.page-1), w.end)
	from = min(w.hinted, to)
	w.hinted = max(w.hinted, to)
	return from, to
}

// Forget has the next read start over: what was hinted is gone.
func (w *window) Forget() { w.cursor = -1 }
