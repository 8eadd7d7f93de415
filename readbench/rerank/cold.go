package rerank

import "github.com/readbench/suite/readbench"

const (
	epochShare  = 0.09 // of the file's pages that an epoch of cold delivers, at the most
	mostRepeats = 0.10 // share of an epoch's page reads that may be repeats
)

// coldRepeats is the share of page reads, in an epoch of the case cold, of pages that the epoch has read before: no query
// comes twice in it, but two queries may share vectors, and two vectors a page. Through the page cache these reads are warm.
// It is counted on queries that stand for those of an epoch, as many as touch epochShare of the pages.
func (x *index) coldRepeats() float64 {
	pages := x.size() / blockSize
	seen := make([]uint64, (pages+63)/64)
	s := newSearcher(x)
	var distinct, repeats int64
	for i := int64(0); distinct <= int64(epochShare*float64(pages)); i++ {
		query := int64(mix(x.seed^uint64(i)) % queries)
		for _, n := range s.search(query) {
			r := x.place(n)
			for page := r.Off / blockSize; page <= (r.Off+int64(r.N)-1)/blockSize; page++ {
				word, bit := &seen[page/64], uint64(1)<<(page%64)
				if *word&bit != 0 {
					repeats++
				} else {
					*word |= bit
					distinct++
				}
			}
		}
	}
	return float64(repeats) / float64(distinct+repeats)
}

// checkCold refuses cold rows that would be warm in good part.
func (d *Data) checkCold() error {
	if d.warm <= mostRepeats {
		return nil
	}
	return d.config.Blame(readbench.Unsupported("cold: %.0f %% of an epoch's page reads would be of pages that it has read before (queries share vectors, vectors share pages), more than %.0f %%; take more vectors (%sVECTORS), or %sALIGN=page",
		100*d.warm, 100*mostRepeats, readbench.EnvPrefix, readbench.EnvPrefix), "VECTORS", "ALIGN")
}
