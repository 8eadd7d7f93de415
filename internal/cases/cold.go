package cases

import (
	"context"

	"github.com/readbench/suite/readbench/strategy"
)

// coldCase: no page of the file is in the page cache when it is asked for. How that is kept up while the row runs
// depends on the order of the row: coldState for random reads, coldScan for scans, coldList for predrawn rows.
type coldCase struct{}

func (coldCase) Enter(_ context.Context, site *Site) (State, error) {
	if err := site.Machine.OnDevice("cold", site.Shape); err != nil {
		return nil, err
	}
	if site.Peers != nil && (site.Shape.Predrawn || site.Shape.Order == strategy.OrderSequential) {
		return nil, errNotShared(site, "scans, hints, probes and faults of one contestant would warm what another one is to find cold")
	}
	pages := pages{site}
	switch {
	case site.Shape.Predrawn:
		return &coldList{pages: pages}, nil
	case site.Shape.Order == strategy.OrderSequential:
		return &coldScan{pages: pages}, nil
	}
	return &coldState{pages: pages}, nil
}
