package lucene

import "fmt"

// A Chunk says where a chunk of documents lies.
type Chunk struct {
	Index   int   // in its segment
	DocBase int   // its first document, counted in its segment
	Docs    int   // documents in it, at least 1
	Offset  int64 // bytes from the start of Segment.DataFile (not of a file inside a compound one)
	Length  int64 // bytes, at least 1
}

// Chunks returns the number of chunks of the segment.
func (s *Segment) Chunks() int { return len(s.bases) - 1 }

// ChunkAt returns the chunk with that index, 0 ≤ i < Chunks(). It panics if there is none, as an index out of range.
func (s *Segment) ChunkAt(i int) Chunk {
	return Chunk{Index: i, DocBase: int(s.bases[i]), Docs: int(s.bases[i+1] - s.bases[i]),
		Offset: s.dataOff + s.pointers[i], Length: s.pointers[i+1] - s.pointers[i]}
}

// Chunk returns the chunk that holds a document, 0 ≤ doc < Docs, without any read.
func (s *Segment) Chunk(doc int) (Chunk, error) {
	if doc < 0 || doc >= s.Docs {
		return Chunk{}, fmt.Errorf("%s: document %d of %d", s.name, doc, s.Docs)
	}
	// The last chunk whose first document is not behind doc: at or beside where it would be if all chunks had as many
	// documents, or by bisection.
	lo, hi := 0, len(s.bases)-1
	if guess := int(int64(doc) * int64(hi) / int64(s.Docs)); int(s.bases[guess]) <= doc {
		lo = guess
		if guess+4 < hi && int(s.bases[guess+4]) > doc {
			hi = guess + 4
		}
	} else {
		hi = guess
		if guess > 4 && int(s.bases[guess-4]) <= doc {
			lo = guess - 4
		}
	}
	for hi-lo > 1 {
		mid := int(uint(lo+hi) / 2)
		if int(s.bases[mid]) <= doc {
			lo = mid
		} else {
			hi = mid
		}
	}
	return s.ChunkAt(lo), nil
}

// headGuess is how many bytes the header of a chunk and the numbers in front of its first run take, as a rule: a byte for its
// fields and two for its length a document, and the lengths of the parts.
func (s *Segment) headGuess(k Chunk) int { return 64 + 3*k.Docs }

// DictionaryEnd returns where in DataFile the dictionary of a chunk ends at about: what a Decoder reads to get over header
// and dictionary in one go, and what is to be hinted before a header is known. It is a guess, and inside the chunk.
func (s *Segment) DictionaryEnd(k Chunk) int64 {
	raw := s.layout.chunkSize / dictShare
	dict := int64(raw + raw/255 + 16)      // as one that does not compress
	dict = min(dict, k.Length*2/dictShare) // if all compresses, so does it, though not as well
	return k.Offset + min(k.Length, int64(s.headGuess(k))+dict)
}

// LongestWant returns how many bytes a Decoder wants of the segment at a time, at the most. It never wants more than a chunk
// has, and of chunks that are much longer than others (sliced ones, of long documents) one slice.
func (s *Segment) LongestWant() int {
	longest, docs := int64(0), 0
	for i := range s.Chunks() {
		k := s.ChunkAt(i)
		longest, docs = max(longest, k.Length), max(docs, k.Docs)
	}
	// All parts of a run that is not sliced, if nothing compresses; or a header with numbers of 5 bytes.
	run := 2 * s.layout.chunkSize
	return int(min(longest, int64(max(run+run/128+4096, s.headGuess(Chunk{Docs: 4 * docs})))))
}
