package cases

import (
	"fmt"
	"strings"

	"github.com/readbench/suite/internal/memlimit"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/strategy"
)

// A Machine is what is known of the machine, and what was done to it, from one row of a process to the next. Rows run one
// after the other.
type Machine struct {
	Memory   int64  // bytes that this process may use, 0 if unknown
	InMemory string // why the files' bytes may come from this machine's memory and not from a device, "" if nothing says so

	warmth     warmth          // how the files came into the page cache
	swept      bool            // groups of dead processes were looked for
	explained  map[string]bool // what was explained
	droppedAll bool            // dropping the machine's page cache was tried, in vain
}

// warmth is how a file came into the page cache: it decides how large its folios are, and so what calls on it cost.
type warmth int

const (
	asFound   warmth = iota // by somebody else, or in part
	byReading               // read through, on a descriptor without advice
	bySmall                 // read through in folios of one page
)

// Warmed tells that the files are resident already, read through in the way of hot rows, by a peer.
func (m *Machine) Warmed() { m.warmth = byReading }

// OnDevice refuses a row whose name promises reads from a device, if the device may be this machine's memory. what is the
// promise: a case, or "direct reads".
func (m *Machine) OnDevice(what string, s *shape.Shape) error {
	if m.InMemory == "" || s.Effect == shape.None {
		return nil
	}
	return strategy.Unsupported("%s: %w", what, strategy.Unsupported("%s", m.InMemory)) // one cause, whichever case it takes
}

// Explain prints for people, once, what a case did to the machine, or what a strategy lacks.
func (m *Machine) Explain(what, format string, args ...any) {
	if m.explained[what] {
		return
	}
	if m.explained == nil {
		m.explained = map[string]bool{}
	}
	m.explained[what] = true
	notice.Printf("%s: %s", what, fmt.Sprintf(format, args...))
}

// sweep removes memory-limited groups that dead processes of ours have left, once.
func (m *Machine) sweep(c *memlimit.Controller) error {
	if m.swept {
		return nil
	}
	m.swept = true
	removed, err := c.Sweep()
	if len(removed) > 0 {
		notice.Printf("removed memory-limited groups that dead processes had left: %s", strings.Join(removed, ", "))
	}
	return err
}
