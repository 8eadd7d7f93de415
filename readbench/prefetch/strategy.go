package prefetch

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/readbench"
)

// MmapRandom copies from a mapping advised MADV_RANDOM, as readbench.MmapRandom does, and prefetches as p says.
func MmapRandom(p Policy) readbench.Strategy {
	return Strategy{Policy: p, Random: true}
}

// Mmap copies from a mapping without advice, as readbench.Mmap does, and prefetches as p says.
func Mmap(p Policy) readbench.Strategy { return Strategy{Policy: p} }

// Strategy is MmapRandom or Mmap, with the calls of its advisor chosen by the caller: BestProbe and BestHint,
// their zero values, are the best that there are. Its rows are labelled policy=NAME.
type Strategy struct {
	Policy Policy
	Random bool // MADV_RANDOM on the mapping
	Probe  ProbeKind
	Hint   HintKind
}

// Name is that of the strategies of package readbench that hint every range.
func (s Strategy) Name() string { return s.base().Name() + "-prefetch" }

// Labels are policy=NAME, and the calls that the caller chose.
func (s Strategy) Labels() []string {
	labels := []string{"policy=" + s.Policy.Name()}
	if s.Probe != BestProbe {
		labels = append(labels, "probe="+string(s.Probe))
	}
	if s.Hint != BestHint {
		labels = append(labels, "hint="+string(s.Hint))
	}
	return labels
}

func (s Strategy) base() readbench.Strategy {
	if s.Random {
		return readbench.MmapRandom()
	}
	return readbench.Mmap()
}

// mapped is what the strategies of package readbench open.
type mapped interface {
	readbench.Opened
	readbench.Mapper
	Bytes() []byte
}

// Open maps the file, and sets up an Advisor. What the kernel lacks or refuses, and which calls were chosen, is
// said once on standard error.
func (s Strategy) Open(f *readbench.File, setup readbench.Setup) (_ readbench.Opened, err error) {
	base, err := s.base().Open(f, setup)
	if err != nil {
		return nil, err
	}
	o := &opened{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", s.Name(), err), o.Close())
		}
	}()
	var ok bool
	if o.mapped, ok = base.(mapped); !ok {
		return nil, errors.Join(fmt.Errorf("%T has no mapping to advise", base), base.Close())
	}
	if o.fd, err = f.Open(0); err != nil {
		return nil, err
	}
	faults := 1
	if s.Random {
		faults = (setup.MaxRange+f.PageSize()-2)/f.PageSize() + 1
	}
	o.advisor, err = NewAdvisor(Config{
		Policy: s.Policy, Data: o.Bytes(), FD: int(o.fd.Fd()), Name: f.Path(), PageSize: f.PageSize(),
		Workers: setup.Threads, Faults: faults, Probe: s.Probe, Hint: s.Hint,
	})
	if err != nil {
		return nil, setup.Config.Blame(err, "PROBE", "HINT")
	}
	o.tell()
	return o, nil
}

type opened struct {
	mapped
	fd      *os.File
	advisor *Advisor
}

var told sync.Map // what was said already, so that each is said once and not for every row

func (o *opened) tell() {
	for _, err := range o.advisor.LeftOut() {
		if _, before := told.LoadOrStore(err.Error(), true); !before {
			notice.Printf("%v", err)
		}
	}
	probe, hint := o.advisor.Kinds()
	key := fmt.Sprintf("%s: %s, %s", o.fd.Name(), probe, hint)
	if _, before := told.LoadOrStore(key, true); !before {
		notice.Printf("prefetching on %s: %v", o.fd.Name(), o.advisor)
	}
}

// Reader makes a reader that prefetches; if the policy never does anything, a reader that does not.
func (o *opened) Reader(id int) (readbench.Reader, error) {
	base, err := o.mapped.Reader(id)
	if err != nil {
		return nil, err
	}
	w := o.advisor.Worker(id)
	if w == nil {
		return base, nil
	}
	return &reader{base, w}, nil
}

func (o *opened) Close() (err error) {
	if o.advisor != nil {
		err = o.advisor.Close()
	}
	if o.fd != nil {
		err = errors.Join(err, o.fd.Close())
	}
	if o.mapped != nil {
		err = errors.Join(err, o.mapped.Close())
	}
	return err
}

// reader reads with one of package readbench, and has Prefetch, Counts and Forget of a Worker.
type reader struct {
	readbench.Reader
	*Worker
}
