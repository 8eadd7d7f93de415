package readbench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/readbench/suite/internal/pagecache"
)

// A pageCase is a state of the page cache in which a row is measured.
type pageCase interface {
	// enter is called once a row, before the strategy is opened.
	enter(ctx context.Context, r *running) (caseState, error)
}

// A caseState keeps one row in its case. The state of the pages and the order of the draws are one promise, so
// both are here.
type caseState interface {
	// drawer makes a worker's source of offsets.
	drawer(w *Worker) drawer
	// prepare is called once, after the strategy and all readers were opened.
	prepare(ctx context.Context) error
	// restore brings the pages into the state of the case and verifies it. It is called before each call of a
	// row and at each end of an epoch, with no op under way and timer and counters stopped.
	restore(ctx context.Context, when moment) error
	// judge returns an error if what was measured contradicts the name of the case.
	judge(res *result) error
}

// moment is when a case's state is restored.
type moment int

const (
	callStart moment = iota // before a call, measured or not
	epochEnd                // in the middle of one
)

// A drawer sets the offsets of the next ranges to read, and says of how many; it may wait at the barrier. One per worker.
type drawer interface {
	draw(rs []Range) (n int, err error)
}

// cases are the cases of READBENCH_CASES: forms of their names, and what parses them.
var cases = []struct {
	form  string
	parse func(name string) (pageCase, bool)
}{
	{"hot", func(name string) (pageCase, bool) { return hotCase{}, name == "hot" }},
	{"cold", func(name string) (pageCase, bool) { return coldCase{}, name == "cold" }},
	{"pressureN (data is N % of the memory, from 101 on)", func(name string) (pageCase, bool) { return parsePressure(name) }},
	{"mixedN (N % of the reads are cold, 1 to 99)", func(name string) (pageCase, bool) { return parseMixed(name) }},
}

// parseCase returns the case of a name.
func parseCase(name string) (pageCase, error) {
	var forms []string
	for _, c := range cases {
		if pc, ok := c.parse(name); ok {
			return pc, nil
		}
		forms = append(forms, c.form)
	}
	return nil, fmt.Errorf("%q is no case; there are %s", name, strings.Join(forms, ", "))
}

// refused makes a refusal of the page cache one that skips the row.
func refused(pageCase string, err error) error {
	if errors.Is(err, pagecache.ErrUnsupported) {
		return Unsupported("%s: %w", pageCase, err)
	}
	return err
}

// onDevice refuses a row whose name promises reads from a device, if the device may be this machine's memory. what is the
// promise: a case, or "direct reads".
func (r *running) onDevice(what string) error {
	if r.suite.memory == "" || r.row.Effect == EffectNone {
		return nil
	}
	return Unsupported("%s: %w", what, Unsupported("%s", r.suite.memory)) // one cause, whichever case it takes
}

// directShare is the least share of the bytes that direct reads must make the device deliver, in every case.
const directShare = 0.9

// judgeDirect is judge for reads that bypass the page cache: they are device reads in every case.
func judgeDirect(res *result) error {
	if float64(res.counters.DeviceBytes) < directShare*float64(res.bytes()) {
		return fmt.Errorf("%d bytes were read directly, but the device delivered only %d: these reads did not bypass the page cache", res.bytes(), res.counters.DeviceBytes)
	}
	return nil
}
