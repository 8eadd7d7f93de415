package readbench

import (
	"fmt"
	"os"
	"testing"
)

// partly is a strategy of which only some workers' readers are Counters.
type partly struct {
	Strategy
	counts func(worker int) bool
}

func (s partly) Open(f *File, setup Setup) (Opened, error) {
	o, err := s.Strategy.Open(f, setup)
	return partlyOpened{o, s.counts}, err
}

type partlyOpened struct {
	Opened
	counts func(worker int) bool
}

func (o partlyOpened) Reader(worker int) (Reader, error) {
	r, err := o.Opened.Reader(worker)
	if err != nil || o.counts(worker) {
		return r, err
	}
	return struct{ Reader }{r}, nil
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
				res, err := measureRow(t, s, randomRow(s, partly{Pread(), tc.counts}, pageCase, 2), 10)
				if err != nil {
					t.Fatal(err)
				}
				if res.counted != tc.want || (len(res.counts.Calls) > 0) != tc.want || (res.counts.ReadSyscalls > 0) != tc.want {
					t.Errorf("counted is %v, with %+v", res.counted, res.counts)
				}
				for _, m := range metrics {
					if _, ok := m.value(res); (m.unit == "short/op" || m.unit == "retried/op") && ok != tc.want {
						t.Errorf("%s is reported: %v", m.unit, ok)
					}
				}
				if s.explained["pread"] == tc.want {
					t.Errorf("that its readers do not count was told: %v", s.explained["pread"])
				}
			})
		}
	}
}

// What a row of probes met, only Counters can tell.
func TestProbesWithoutCounters(t *testing.T) {
	res := result{row: &Row{Strategy: Pread(), Effect: EffectProbe, Batch: 1}, ops: 1}
	wantError(t, res.judgeProbes(), "no Counters")
}
