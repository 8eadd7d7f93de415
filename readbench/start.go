package readbench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/readbench/suite/internal/cases"
	"github.com/readbench/suite/internal/directio"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/turns"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// Load reads the configuration of an environment in the form of os.Environ: config.Load, with the cases that there are.
func Load(environ []string) (*config.Config, error) { return config.Load(environ, cases.Check) }

var shared = sync.OnceValues(func() (*Suite, error) {
	c, err := Load(os.Environ())
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.SetupContext()
	defer cancel()
	f, err := files.Open(ctx, c, true)
	if err != nil {
		return nil, c.Deadline(ctx, err)
	}
	return startSuite(c, files.Set{f})
})

// startSuite makes the suite of this process.
func startSuite(c *config.Config, fs files.Set) (*Suite, error) {
	s, err := newSuite(c, os.Stdout, fs)
	if err == nil && c.Turns {
		s.contestant = turns.Inherited()
	}
	return s, err
}

// Start returns the suite that READBENCH_* variables describe, made on the first call in a process, which keeps
// other runs off its file from then on (READBENCH_SHARE). It fails b if it cannot be made. b is a Benchmark function's own:
// nothing of its result may be on the output yet.
func Start(b *testing.B) *Suite {
	b.Helper()
	s, err := shared()
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// A Maker finds, and if need be makes, the files of a workload of its own, and says where they lie. They are regular files,
// whose content the core does not know: the ops check what they read. READBENCH_FILE and READBENCH_SIZE are not set. It gives
// up when ctx ends.
type Maker func(ctx context.Context, c *config.Config) (paths []string, err error)

// StartFiles is Start for a workload that reads files of its own: find is called once in a process, by the first call.
// Other runs are kept off the files from then on (READBENCH_SHARE). where are the variables, without READBENCH_, that say where the
// files lie: an error about a file names those that are set.
func StartFiles(b *testing.B, find Maker, where ...string) *Suite {
	b.Helper()
	s := &sharedFiles
	s.once.Do(func() { s.suite, s.err = startFiles(find, where) })
	switch {
	case errors.Is(s.err, strategy.ErrUnsupported):
		skip(b, s.err)
	case s.err != nil:
		b.Fatal(s.err)
	}
	return s.suite
}

var sharedFiles struct {
	once  sync.Once
	suite *Suite
	err   error
}

func startFiles(find Maker, where []string) (*Suite, error) {
	c, err := Load(os.Environ())
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.SetupContext()
	defer cancel()
	fs, err := openFiles(ctx, c, find, where)
	if err == nil {
		err = fs.Claim(ctx, c)
	}
	if err != nil {
		return nil, c.Deadline(ctx, errors.Join(err, fs.Close()))
	}
	return startSuite(c, fs)
}

// openFiles opens the files of a workload of its own. The caller closes what was opened, also after an error.
func openFiles(ctx context.Context, c *config.Config, find Maker, where []string) (fs files.Set, err error) {
	if err := c.Blame(errOwnFiles, "FILE", "SIZE"); err != errOwnFiles {
		return nil, err
	}
	paths, err := find(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("the workload has no files to read")
	}
	for _, path := range paths {
		f, err := files.OpenUnchecked(ctx, path)
		if err != nil {
			return fs, c.Blame(err, where...)
		}
		fs = append(fs, f)
	}
	return fs, nil
}

var errOwnFiles = errors.New("this workload reads files of its own; leave it out")

// Main is a TestMain's body. If benchmarks are about to run, it stops on a wrong configuration, or a READBENCH_FILE that
// cannot be used, before anything does, with exit code 2, and without -run no test runs: "go test -bench=. -count=10"
// wants rows, and not every test ten times before them. direct are the names of Benchmark functions that read directly: if one of them is to run,
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
	fd, align, err := directio.Open(s.files[0].File)
	if err != nil {
		return nil // the row will say why it cannot run
	}
	err = fd.Close()
	for _, n := range c.ReadSize {
		err = errors.Join(err, checkDirectSize(n, s.files[0].File, align))
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
