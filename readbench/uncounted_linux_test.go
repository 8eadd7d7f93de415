package readbench

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// partly is a strategy of which only some workers' readers are Counters.
type partly struct {
	strategy.Strategy
	counts func(worker int) bool
}

func (s partly) Open(f *strategy.File, setup strategy.Setup) (strategy.Opened, error) {
	o, err := s.Strategy.Open(f, setup)
	return partlyOpened{o, s.counts}, err
}

type partlyOpened struct {
	strategy.Opened
	counts func(worker int) bool
}

func (o partlyOpened) Reader(worker int) (strategy.Reader, error) {
	r, err := o.Opened.Reader(worker)
	if err != nil || o.counts(worker) {
		return r, err
	}
	return struct{ strategy.Reader }{r}, nil
}

// A row whose readers do not all count is measured; what only some have counted is not reported as if it were all, and what
// is not verified is told.
func TestRowsWithoutCounters(t *testing.T) {
	for _, tc := range []struct {
		what   string
		counts func(worker int) bool
		want   bool
	}{
		{"all count", func(int) bool { return true }, true},
		{"none counts", func(int) bool { return false }, false},
		{"the first one counts", func(worker int) bool { return worker == 0 }, false},
		{"the last one counts", func(worker int) bool { return worker == 1 }, false},
	} {
		for _, pageCase := range []string{"hot", "cold"} {
			t.Run(tc.what+"/"+pageCase, func(t *testing.T) {
				s := testSuite(t, fmt.Sprintf("READ_SIZE=%d", 4*os.Getpagesize()))
				var res *result.Result
				var err error
				told := spoken(t, func() {
					res, err = measureRow(t, s, randomRow(s, partly{strategies.Pread(), tc.counts}, pageCase, 2), 10)
				})
				if err != nil {
					t.Fatal(err)
				}
				if res.Counted != tc.want || (len(res.Counts.Calls) > 0) != tc.want || (res.Counts.ReadSyscalls > 0) != tc.want {
					t.Errorf("counted is %v, with %+v", res.Counted, res.Counts)
				}
				reported := map[string]bool{}
				res.Report(func(_ float64, unit string) { reported[unit] = true }, res.Ops, true)
				for _, unit := range []string{"short/op", "retried/op", "pread/op"} {
					if reported[unit] != tc.want {
						t.Errorf("%s is reported: %v", unit, reported[unit])
					}
				}
				if !reported["minflt/op"] {
					t.Error("other metrics of METRICS=all are not reported")
				}
				if strings.Contains(told, "pread: its readers are no Counters") == tc.want {
					t.Errorf("what was told of its readers: %q", told)
				}
			})
		}
	}
}
