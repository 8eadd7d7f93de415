package rerank

// epochShare is the share of the file's pages that an epoch of cold delivers, at the most.
const epochShare = 0.09

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
