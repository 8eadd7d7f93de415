package storedfields

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/internal/evidence"
)

// metrics are the workload's own, and in which direction each is better.
var metrics = []struct{ unit, better string }{
	{"docs/s", "higher"},
	{"used-B/doc", "lower"},
	{"dev-B/doc", "lower"},
	{"reads/doc", "lower"},
	{"headers/doc", "lower"},
	{"blocks/doc", "lower"},
	{"decompress-%", ""},
}

// stats are the counts of one worker.
type stats struct {
	_       cpu.CacheLinePad
	docs    int
	used    int // bytes of the index's files that the documents needed
	reads   int // ranges fetched
	headers int
	blocks  int
	sampled int           // documents whose decoding was timed
	decode  time.Duration // that took
	_       cpu.CacheLinePad
}

// extra are the metrics of a row.
type extra struct {
	workers []*stats
	hints   bool // nothing is retrieved
	sample  bool
	threads int
	source  evidence.Source
	before  evidence.Counters
	failed  error // reading the counters
}

// Reset forgets what was counted before.
func (e *extra) Reset() {
	for _, s := range e.workers {
		*s = stats{}
	}
	e.before, e.failed = e.source.Read()
}

// Report reports per document. What a device delivered is counted here once more, from before the first op to after the
// last one: evicting in between delivers nothing.
func (e *extra) Report(_ int, elapsed time.Duration, report func(float64, string)) error {
	after, err := e.source.Read()
	if err := errors.Join(e.failed, err); err != nil {
		return fmt.Errorf("the kernel's counters of this process: %w", err)
	}
	var sum stats
	for _, s := range e.workers {
		sum.docs += s.docs
		sum.used += s.used
		sum.reads += s.reads
		sum.headers += s.headers
		sum.blocks += s.blocks
		sum.sampled += s.sampled
		sum.decode += s.decode
	}
	docs := float64(sum.docs)
	if docs == 0 {
		return errors.New("no document was retrieved")
	}
	report(docs/elapsed.Seconds(), "docs/s")
	report(float64(after.Sub(e.before).DeviceBytes)/docs, "dev-B/doc")
	report(float64(sum.reads)/docs, "reads/doc")
	if e.hints {
		return nil
	}
	report(float64(sum.used)/docs, "used-B/doc")
	report(float64(sum.headers)/docs, "headers/doc")
	report(float64(sum.blocks)/docs, "blocks/doc")
	if e.sample && sum.sampled > 0 {
		all := sum.decode.Seconds() / float64(sum.sampled) * docs
		report(100*all/(elapsed.Seconds()*float64(e.threads)), "decompress-%")
	}
	return nil
}
