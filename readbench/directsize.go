package readbench

import (
	"fmt"

	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// checkDirectSize refuses a read size that O_DIRECT cannot read alone.
func checkDirectSize(n config.Size, f *strategy.File, align int) error {
	if unit := config.Size(align); n%unit != 0 {
		return fmt.Errorf("%sREAD_SIZE=%q: it is no multiple of %d, the alignment of direct reads of %s; %s would be, or leave the direct benchmarks out with -bench",
			config.EnvPrefix, n, align, f.Path(), (n+unit-1)/unit*unit)
	}
	return nil
}
