package storedfields

import (
	"context"

	"github.com/readbench/suite/readbench/config"
)

// OpenCorpus opens the index that c describes: the user's own, or else one of the user's cache directory, which is built
// first if it is missing or another one than c describes.
func OpenCorpus(ctx context.Context, c *config.Config) (*Corpus, error) {
	if c.LuceneIndex == "" {
		return openBuilt(ctx, c)
	}
	corpus, err := openIndex(c.LuceneIndex, c.LuceneCheck)
	if err != nil {
		return nil, c.Blame(err, "LUCENE_INDEX")
	}
	corpus.origin = c.LuceneIndex
	if c.Verify == config.VerifyFull {
		if corpus.sums, err = takeSums(ctx, corpus); err != nil {
			return nil, err
		}
	}
	return corpus, nil
}
