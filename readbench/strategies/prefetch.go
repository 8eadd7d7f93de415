package strategies

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/strategy"
)

// Prefetching is MmapRandom or Mmap that prefetches as a policy says, with the calls of its advisor chosen by the caller:
// prefetch.BestProbe and BestHint, their zero values, are the best that there are. Its rows are labelled policy=NAME.
type Prefetching struct {
	Policy prefetch.Policy
	Random bool // MADV_RANDOM on the mapping
	Probe  prefetch.ProbeKind
	Hint   prefetch.HintKind
}

// Name is that of MmapRandomPrefetch or MmapPrefetch, which hint every range.
func (s Prefetching) Name() string { return s.base().Name() + "-prefetch" }

// Labels are policy=NAME, and the calls that the caller chose.
func (s Prefetching) Labels() []string {
	labels := []string{"policy=" + s.Policy.Name()}
	if s.Probe != prefetch.BestProbe {
		labels = append(labels, "probe="+string(s.Probe))
	}
	if s.Hint != prefetch.BestHint {
		labels = append(labels, "hint="+string(s.Hint))
	}
	return labels
}

func (s Prefetching) base() strategy.Strategy {
	if s.Random {
		return MmapRandom()
	}
	return Mmap()
}

// Open maps the file, and sets up an Advisor. What the kernel lacks or refuses, and which calls were chosen, is
// said once on standard error.
func (s Prefetching) Open(f *strategy.File, setup strategy.Setup) (_ strategy.Opened, err error) {
	base, err := s.base().Open(f, setup)
	if err != nil {
		return nil, err
	}
	o := &prefetchingOpened{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", s.Name(), err), o.Close())
		}
	}()
	o.mmapOpened = base.(*mmapOpened)
	if o.fd, err = f.Open(0); err != nil {
		return nil, err
	}
	faults := 1
	if s.Random {
		faults = (setup.MaxRange+f.PageSize()-2)/f.PageSize() + 1
	}
	o.advisor, err = prefetch.NewAdvisor(prefetch.Config{
		Policy: s.Policy, Data: o.Bytes(), FD: int(o.fd.Fd()), Name: f.Path(), PageSize: f.PageSize(),
		Workers: setup.Threads, Faults: faults, Probe: s.Probe, Hint: s.Hint,
	})
	if err != nil {
		return nil, s.blame(err)
	}
	o.tell()
	return o, nil
}

// blame names the variables that chose calls which cannot be used; a program may have chosen them itself.
func (s Prefetching) blame(err error) error {
	if s.Hint != prefetch.BestHint {
		err = fmt.Errorf("%sHINT=%q: %w", config.EnvPrefix, s.Hint, err)
	}
	if s.Probe != prefetch.BestProbe {
		err = fmt.Errorf("%sPROBE=%q: %w", config.EnvPrefix, s.Probe, err)
	}
	return err
}

type prefetchingOpened struct {
	*mmapOpened
	fd      *os.File
	advisor *prefetch.Advisor
}

var told sync.Map // what was said already, so that each is said once and not for every row

func (o *prefetchingOpened) tell() {
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
func (o *prefetchingOpened) Reader(id int) (strategy.Reader, error) {
	base, err := o.mmapOpened.Reader(id)
	if err != nil {
		return nil, err
	}
	w := o.advisor.Worker(id)
	if w == nil {
		return base, nil
	}
	return &advisedReader{base, w}, nil
}

func (o *prefetchingOpened) Close() (err error) {
	if o.advisor != nil {
		err = o.advisor.Close()
	}
	if o.fd != nil {
		err = errors.Join(err, o.fd.Close())
	}
	if o.mmapOpened != nil {
		err = errors.Join(err, o.mmapOpened.Close())
	}
	return err
}

// advisedReader reads as its mapping does, and has Prefetch, Counts and Forget of a Worker.
type advisedReader struct {
	strategy.Reader
	*prefetch.Worker
}
