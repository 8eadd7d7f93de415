package prefetch

import (
	"fmt"
	"slices"
	"strings"
)

// Config is what an Advisor works on.
type Config struct {
	Policy   Policy
	Data     []byte // a mapping of the file from its start, which outlives the Advisor
	FD       int    // the same file, open for reading until the Advisor is closed
	Name     string // of the file, for errors
	PageSize int    // bytes, to which ranges are rounded out: the system's page size or a multiple of it
	Workers  int    // how many use the Advisor at the same time, at least 1
	Faults   int    // see Target.Faults
	Probe    ProbeKind
	Hint     HintKind
}

// An Advisor carries out what a policy decides, on one mapping. It is safe for concurrent use; each of its
// Workers is for one goroutine.
type Advisor struct {
	c       Config
	k       *kernel
	target  Target
	open    func(id int) Decider
	pidfd   int // of this process, -1 without
	probes  []measured
	hints   []measured
	leftOut []error
}

// Target is what the policy was told.
func (a *Advisor) Target() Target { return a.target }

// Kinds are the probe and the hint in use. The probe is "" if there is none, and the policy needs none.
func (a *Advisor) Kinds() (ProbeKind, HintKind) { return a.c.Probe, a.c.Hint }

// LeftOut says, an error each, which calls cannot be used here and why.
func (a *Advisor) LeftOut() []error { return a.leftOut }

// String says which calls are in use, and what was measured.
func (a *Advisor) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "probe %s, hint %s (of %d workers on %d processors, for a resident range:", cmpOr(string(a.c.Probe), "none"), a.c.Hint, a.target.Workers, a.target.Processors)
	for _, m := range slices.Concat(a.probes, a.hints) {
		fmt.Fprintf(&b, " %s %v,", m.kind, m.cost)
	}
	fmt.Fprintf(&b, " the device reads a page in %v)", a.target.Read)
	return b.String()
}

func cmpOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Close releases what the Advisor opened itself: neither mapping nor descriptor. No Worker is in use any more.
func (a *Advisor) Close() error {
	if a.pidfd < 0 {
		return nil
	}
	fd := a.pidfd
	a.pidfd = -1
	if err := a.k.closeFD(fd); err != nil {
		return fmt.Errorf("closing a pidfd: %w", err)
	}
	return nil
}
