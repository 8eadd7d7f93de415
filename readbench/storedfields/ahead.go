package storedfields

import "github.com/readbench/suite/readbench/storedfields/lucene"

// ahead is what a worker remembers of its hints: the last 16 chunks, as in the library. A chunk is remembered even if the
// policy then skips the hint.
type ahead struct {
	recent [16]int64 // numbers of chunks
	oldest int
	spans  []lucene.Span
}

// forget forgets all chunks.
func (a *ahead) forget() {
	for i := range a.recent {
		a.recent[i] = -1
	}
}

// remember reports whether a chunk is new, and remembers it instead of the one that it has remembered longest.
func (a *ahead) remember(id int64) bool {
	for _, r := range a.recent {
		if r == id {
			return false
		}
	}
	a.recent[a.oldest] = id
	a.oldest = (a.oldest + 1) % len(a.recent)
	return true
}
