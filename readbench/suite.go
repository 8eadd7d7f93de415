package readbench

import (
	"bufio"
	"fmt"
	"io"

	"github.com/readbench/suite/internal/blockdev"
	"github.com/readbench/suite/internal/cases"
	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/hostinfo"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/turns"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// A Suite is a configuration and the files to read: what all rows of a process share. Its rows run one after the other: its
// methods are not for concurrent use.
type Suite struct {
	config  *config.Config
	files   files.Set
	host    hostinfo.Info
	machine cases.Machine
	out     io.Writer       // where configuration and unit lines go: standard output
	kinds   map[string]bool // kinds of calls whose unit lines were printed

	contestant *turns.Conn // to the coordinator of a duel; nil if rows are measured alone

	settings map[string]string // configuration lines of workloads that are in force
}

// Config is the configuration.
func (s *Suite) Config() *config.Config { return s.config }

// close closes the files.
func (s *Suite) close() error { return s.files.Close() }

// newSuite makes a suite on files, which are the suite's from then on, and prints the configuration and unit lines of the
// benchmark format to out.
func newSuite(c *config.Config, out io.Writer, fs files.Set) (*Suite, error) {
	s := &Suite{config: c, files: fs, host: hostinfo.Of(fs[0].Control, "/proc", "/sys"), out: out, kinds: map[string]bool{}, settings: map[string]string{}}
	s.machine.Memory = s.host.Memory
	for _, f := range fs {
		if cause := blockdev.Of(f.Control, "/proc", "/sys").Memory; cause != "" {
			s.machine.InMemory = fmt.Sprintf("%s may be read from this machine's memory and not from a device: %s", f.Path(), cause)
			break
		}
	}
	w := bufio.NewWriter(out)
	for _, line := range s.configLines() {
		fmt.Fprintf(w, "%s: %s\n", line[0], line[1])
	}
	for _, line := range result.UnitLines() {
		fmt.Fprintln(w, line)
	}
	return s, w.Flush()
}

// configLines are what decides the results and stays the same from run to run.
func (s *Suite) configLines() (lines [][2]string) {
	if repetitions() > 1 {
		lines = append(lines, orderLine) // on top of what benchstat prints
	}
	for _, fact := range s.host.Facts {
		lines = append(lines, [2]string{fact.Key, fact.Value})
	}
	check := s.files[0].Checked()
	lines = append(lines,
		[2]string{"file", s.files.String()},
		[2]string{"file-size", config.Size(s.files.Size()).String()},
		[2]string{"content-check", check})
	return append(lines, s.config.Settings()...)
}

// Setting prints a configuration line of a workload, unless it is in force already: what decides the results and
// is in no row's name. It is called by Benchmark functions, before they run rows.
func (s *Suite) Setting(key, value string) error {
	if s.settings[key] == value {
		return nil
	}
	s.settings[key] = value
	_, err := fmt.Fprintf(s.out, "%s: %s\n", key, value)
	return err
}

// Unit prints, once, in which direction a metric of a workload's own is better: "higher" or "lower". It is called by
// Benchmark functions, before they run rows.
func (s *Suite) Unit(unit, better string) error {
	if s.kinds[unit] {
		return nil
	}
	s.kinds[unit] = true
	_, err := fmt.Fprintf(s.out, "Unit %s better=%s\n", unit, better)
	return err
}

// declareUnits prints the unit lines of kinds of calls that were not seen before. The output stands at the
// start of a line.
func (s *Suite) declareUnits(c strategy.Counts) error {
	for _, line := range result.KindLines(c, s.kinds) {
		if _, err := fmt.Fprintln(s.out, line); err != nil {
			return err
		}
	}
	return nil
}

// source is where the evidence comes from.
func (s *Suite) source() evidence.Source {
	src := evidence.Source{Proc: "/proc"}
	if s.config.Metrics == config.MetricsAll {
		src.Device = s.host.Device
	}
	return src
}
