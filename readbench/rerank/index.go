package rerank

const (
	queries   = 1 << 20 // different ones: what ops draw from
	topK      = 100     // vectors of an answer
	samples   = 8       // queries whose true neighbours are known
	probes    = 4       // clusters that are scanned at least
	candidate = 2       // … and as many as it takes for so many candidates to each place of the shortlist
)

// index is what is in memory: codes, and what vectors are checked by. It is read-only and safe for concurrent use.
type index struct {
	*space
	layout
	shortlist int // vectors that a query reads; fewer if there are fewer

	words   int      // of a code
	centres []uint64 // codes of the clusters' centres
	starts  []int32  // where each cluster's vectors start in ids and codes; one more for the end
	ids     []int32  // by cluster, and in a cluster by number
	codes   []uint64 // in the order of ids
	sum     summer
	sums    []uint64 // of each vector, by number
	samples []sample
}

// sample is a query with what is known of it without any file.
type sample struct {
	query  int64
	truth  []uint64 // ranks of its nearest neighbours among all vectors
	answer []uint64 // … and among those of its shortlist: what every backend must answer
}
