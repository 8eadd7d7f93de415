package readbench

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/readbench/suite/internal/blockdev"
	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/internal/hostinfo"
	"github.com/readbench/suite/internal/memlimit"
	"github.com/readbench/suite/internal/notice"
)

// A Suite is a configuration and the files to read: what all rows of a process share. Its rows run one after the other.
type Suite struct {
	config *Config
	files  files
	host   hostinfo.Info
	memory string          // why the files' bytes may come from this machine's memory and not from a device, "" if nothing says so
	out    io.Writer       // where configuration and unit lines go: standard output
	kinds  map[string]bool // kinds of calls whose unit lines were printed

	settings map[string]string // configuration lines of workloads that are in force

	warmth     warmth          // how the file came into the page cache
	swept      bool            // groups of dead processes were looked for
	explained  map[string]bool // cases and strategies of which was told what there is to know
	droppedAll bool            // dropping the machine's page cache was tried, in vain
}

// Config is the configuration.
func (s *Suite) Config() *Config { return s.config }

// File is the file to read, the first one if there are several.
func (s *Suite) File() *File { return s.files[0] }

// Files are the files to read.
func (s *Suite) Files() []*File { return s.files }

// Close closes the files.
func (s *Suite) Close() error { return s.files.close() }

// NewSuite opens the file that c names, making it if it is the default one and missing, and prints the
// configuration and unit lines of the benchmark format to out. The caller closes the suite. Other runs are not kept off the file, as Start does.
func NewSuite(ctx context.Context, c *Config, out io.Writer) (*Suite, error) {
	f, err := OpenFile(ctx, c)
	if err != nil {
		return nil, err
	}
	return newSuite(c, out, files{f})
}

func newSuite(c *Config, out io.Writer, fs files) (*Suite, error) {
	s := &Suite{config: c, files: fs, host: hostinfo.Of(fs[0].control, "/proc", "/sys"), out: out,
		kinds: map[string]bool{}, settings: map[string]string{}, explained: map[string]bool{}}
	for _, f := range fs {
		if s.memory = blockdev.Of(f.control, "/proc", "/sys").Memory; s.memory != "" {
			s.memory = fmt.Sprintf("%s may be read from this machine's memory and not from a device: %s", f.path, s.memory)
			break
		}
	}
	w := bufio.NewWriter(out)
	for _, line := range s.configLines() {
		fmt.Fprintf(w, "%s: %s\n", line[0], line[1])
	}
	for _, line := range unitLines() {
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
	path, check := s.File().path, "on"
	switch {
	case len(s.files) > 1:
		path = fmt.Sprintf("%s and %d more", path, len(s.files)-1)
		fallthrough
	case s.File().unchecked:
		check = "by the workload"
	case !s.File().Checked():
		check = "off (not a data file of readbench)"
	}
	lines = append(lines,
		[2]string{"file", path},
		[2]string{"file-size", Size(s.files.size()).String()},
		[2]string{"content-check", check})
	return append(lines, s.config.settings()...)
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
func (s *Suite) declareUnits(c Counts) error {
	for _, line := range kindLines(c, s.kinds) {
		if _, err := fmt.Fprintln(s.out, line); err != nil {
			return err
		}
	}
	return nil
}

// explain prints for people, once, what a case did to the machine, or what a strategy lacks.
func (s *Suite) explain(what, format string, args ...any) {
	if !s.explained[what] {
		s.explained[what] = true
		notice.Printf("%s: %s", what, fmt.Sprintf(format, args...))
	}
}

// sweep removes memory-limited groups that dead processes of ours have left, once.
func (s *Suite) sweep(c *memlimit.Controller) error {
	if s.swept {
		return nil
	}
	s.swept = true
	removed, err := c.Sweep()
	if len(removed) > 0 {
		notice.Printf("removed memory-limited groups that dead processes had left: %s", strings.Join(removed, ", "))
	}
	return err
}

// source is where the evidence comes from.
func (s *Suite) source() evidence.Source {
	src := evidence.Source{Proc: "/proc"}
	if s.config.Metrics == MetricsAll {
		src.Device = s.host.Device
	}
	return src
}

var shared = sync.OnceValues(func() (*Suite, error) {
	c, err := Load(os.Environ())
	if err != nil {
		return nil, err
	}
	ctx, cancel := (&Suite{config: c}).setupContext()
	defer cancel()
	s, err := startSuite(ctx, c, os.Stdout)
	if err != nil {
		return nil, c.deadline(ctx, err)
	}
	return s, nil
})

// startSuite is NewSuite that keeps other runs off the file.
func startSuite(ctx context.Context, c *Config, out io.Writer) (*Suite, error) {
	f, err := openFile(ctx, c, func(f *os.File) error { return claim(ctx, c, f) })
	if err != nil {
		return nil, err
	}
	return newSuite(c, out, files{f})
}

// Start returns the suite that READBENCH_* variables describe, made on the first call in a process, which keeps
// other runs off its file from then on (READBENCH_SHARE). It fails b if it cannot be made. b is a Benchmark function's own: nothing of its result may be on the output yet.
func Start(b *testing.B) *Suite {
	b.Helper()
	s, err := shared()
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// Main is a TestMain's body. If benchmarks are about to run, it stops on a wrong configuration, or a READBENCH_FILE that
// cannot be used, before anything does, with exit code 2, and without -run no test runs: "go test -bench=. -count=10" wants rows, and not every test
// ten times before them. direct are the names of Benchmark functions that read directly: if one of them is to run,
// READBENCH_READ_SIZE must suit the file's alignment. At the end it says which rows were skipped for causes that were told
// before, and warns again of comparing rows by -count.
func Main(m *testing.M, direct ...string) {
	flag.Parse()
	if pattern := flag.Lookup("test.bench").Value.String(); pattern != "" {
		err := checkEarly(pattern, direct)
		if run := flag.Lookup("test.run"); run.Value.String() == "" {
			err = errors.Join(err, run.Value.Set("^$"))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	code := m.Run()
	skipped.tell()
	compared.tell()
	os.Exit(code)
}

func checkEarly(pattern string, direct []string) error {
	c, err := Load(os.Environ())
	if err != nil {
		return err
	}
	directly := slices.ContainsFunc(direct, func(name string) bool { return selects(pattern, name) })
	if c.File == "" && !directly {
		return nil // a data file of our own is made when it is needed
	}
	s, err := shared()
	if err != nil || !directly {
		return err
	}
	fd, align, err := openDirect(s.File())
	if err != nil {
		return nil // the row will say why it cannot run
	}
	err = fd.Close()
	for _, n := range c.ReadSize {
		err = errors.Join(err, checkDirectSize(n, s.File(), align))
	}
	return err
}

// selects reports whether a -bench pattern may select a Benchmark function. Of each alternative, what stands
// before a '/' is for the function.
func selects(pattern, name string) bool {
	for alternative := range strings.SplitSeq(pattern, "|") {
		top, _, _ := strings.Cut(alternative, "/")
		re, err := regexp.Compile(top)
		if err != nil { // the '|' was in parentheses
			top, _, _ = strings.Cut(pattern, "/")
			if re, err = regexp.Compile(top); err != nil {
				return false // the testing package says what is wrong
			}
		}
		if re.MatchString(name) {
			return true
		}
	}
	return false
}
