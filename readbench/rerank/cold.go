package rerank

import (
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// mostRepeats is the share of an epoch's page reads that may be repeats.
const mostRepeats = 0.10

// checkCold refuses cold rows that would be warm in good part.
func (d *Data) checkCold() error {
	if d.warm <= mostRepeats {
		return nil
	}
	return d.config.Blame(strategy.Unsupported("cold: %.0f %% of an epoch's page reads would be of pages that it has read before (queries share vectors, vectors share pages), more than %.0f %%; take more vectors (%sVECTORS), or %sALIGN=page",
		100*d.warm, 100*mostRepeats, config.EnvPrefix, config.EnvPrefix), "VECTORS", "ALIGN")
}
