package prefetch

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/readbench/strategy"
)

// The cheapest call is taken; about the same is the same, and then the order decides; what is refused is left
// out and said.
func TestChoice(t *testing.T) {
	refused := func(err error, names ...string) func(*fake) {
		return func(f *fake) {
			for _, name := range names {
				f.fails[name] = err
			}
		}
	}
	costs := func(name string, cost time.Duration) func(*fake) { return func(f *fake) { f.cost[name] = cost } }
	for _, c := range []struct {
		rule    string
		change  func(*fake)
		probe   ProbeKind
		hint    HintKind
		leftOut []string
	}{
		{"all there is", func(*fake) {}, Cachestat, Fadvise, nil},
		{"mincore is clearly cheaper", costs("mincore", 200), Mincore, Fadvise, nil},
		{"mincore is hardly cheaper", costs("mincore", 230), Cachestat, Fadvise, nil},
		{"they cost the same", costs("mincore", 300), Cachestat, Fadvise, nil},
		{"process_madvise is clearly cheaper", costs("process_madvise", 200), Cachestat, ProcessMadvise, nil},
		{"process_madvise is hardly cheaper", costs("process_madvise", 310), Cachestat, Fadvise, nil},
		{"madvise is clearly cheaper", costs("madvise", 290), Cachestat, Madvise, nil},
		{"a kernel before 6.5", refused(unix.ENOSYS, "cachestat"), Mincore, Fadvise, []string{"without cachestat", "function not implemented"}},
		{"a kernel before 5.10", refused(unix.ENOSYS, "cachestat", "process_madvise", "pidfd_open"), Mincore, Fadvise, []string{"without cachestat", "without process_madvise", "pidfd_open"}},
		{"process_madvise needs a capability", refused(unix.EPERM, "process_madvise"), Cachestat, Fadvise, []string{"without process_madvise", "operation not permitted"}},
		{"fadvise is filtered", refused(unix.EPERM, "fadvise"), Cachestat, ProcessMadvise, []string{"without fadvise"}},
		{"madvise gives EINVAL", refused(unix.EINVAL, "madvise", "fadvise"), Cachestat, ProcessMadvise, []string{"without madvise", "without fadvise", "invalid argument"}},
		{"no direct reads", refused(unix.EINVAL, "open direct"), Cachestat, Fadvise, []string{"opening it for direct reads", "100µs is assumed"}},
		{"direct reads fail", refused(unix.EINVAL, "direct"), Cachestat, Fadvise, []string{"a direct read", "100µs is assumed"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := newFake(64)
			c.change(f)
			a := f.advisor(t, f.config(Loaded()))
			probe, hint := a.Kinds()
			if probe != c.probe || hint != c.hint {
				t.Errorf("it takes %s and %s, want %s and %s", probe, hint, c.probe, c.hint)
			}
			said := errors.Join(a.LeftOut()...)
			if (said == nil) != (c.leftOut == nil) {
				t.Errorf("it says %v", said)
			}
			for _, part := range c.leftOut {
				if !strings.Contains(said.Error(), part) || !strings.Contains(said.Error(), "data.bin") {
					t.Errorf("it does not say %q: %v", part, said)
				}
			}
			for _, part := range []string{"probe " + string(c.probe), "hint " + string(c.hint)} {
				if !strings.Contains(a.String(), part) {
					t.Errorf("String does not say %q: %s", part, a)
				}
			}
			tg := a.Target()
			if tg.Probe != f.cost[string(probe)] || tg.Hint != f.cost[string(hint)] {
				t.Errorf("it measured %v and %v, the kernel took %v and %v", tg.Probe, tg.Hint, f.cost[string(probe)], f.cost[string(hint)])
			}
			if f.fails["direct"] == nil && f.fails["open direct"] == nil && tg.Read != f.cost["direct"] {
				t.Errorf("the device takes %v, want %v", tg.Read, f.cost["direct"])
			}
		})
	}
}

// cachestat that says nothing is resident of what was just read is not believed; neither is mincore.
func TestUntruthfulProbesAreLeftOut(t *testing.T) {
	f := newFake(64)
	f.resident = func(int64) bool { return false }
	a, err := newAdvisor(f.config(Loaded()), f.kernel())
	if err == nil {
		t.Fatal(a)
	}
	if !errors.Is(err, strategy.ErrUnsupported) || strings.Count(err.Error(), "read a moment ago") != 2 || f.open != 0 {
		t.Errorf("%d descriptors are open; %v", f.open, err)
	}
}

// Where residency cannot be asked, the policies that ask are unsupported, and those that do not ask run.
func TestWithoutAnyProbe(t *testing.T) {
	for _, p := range Policies() {
		f := newFake(64)
		f.fails["visible"] = errors.New("hidden")
		a, err := newAdvisor(f.config(p), f.kernel())
		if _, ok := p.(Probeless); !ok {
			if !errors.Is(err, strategy.ErrUnsupported) || !strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s: %v", p.Name(), err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", p.Name(), err)
			continue
		}
		if probe, _ := a.Kinds(); probe != "" || !strings.Contains(a.String(), "probe none") {
			t.Errorf("%s: it probes with %q: %v", p.Name(), probe, a)
		}
		if w := a.Worker(0); w != nil {
			if err := w.Prefetch([]strategy.Range{{Off: 0, N: 100}}); err != nil {
				t.Errorf("%s: %v", p.Name(), err)
			}
			if got, want := w.Counts().Calls, map[string]uint64{"fadvise": 1, "hinted": 1}; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: it counts %v, want %v", p.Name(), got, want)
			}
		}
		a.Close()
	}
}

// A file is measured once, for each number of workers that call at the same time; another Advisor decides alike
// even if its measurement would be another one now. Another file is measured anew.
func TestOneSurveyPerFile(t *testing.T) {
	slow := func(file string) *fake {
		f := newFake(64)
		f.file = file
		f.cost["process_madvise"], f.cost["cachestat"] = 4000, 5000
		return f
	}
	f := newFake(64)
	f.file = t.Name()
	f.cost["process_madvise"] = 100
	first := f.advisor(t, f.config(Loaded()))

	again := slow(t.Name())
	second := again.advisor(t, again.config(Always()))
	if first.String() != second.String() || first.Target() != second.Target() {
		t.Errorf("first %v, then %v", first, second)
	}
	if err := second.Worker(0).Prefetch([]strategy.Range{{Off: 0, N: 1}}); err != nil || again.calls["process_madvise"] != 1 {
		t.Errorf("what was chosen before is not used: %v, %v", again.calls, err)
	}

	other := slow(t.Name() + "-other")
	if a := other.advisor(t, other.config(Loaded())); a.String() == first.String() {
		t.Errorf("another file was not measured: %v", a)
	}
}

// What is asked for is taken, whatever it costs, or is an error: never something else.
func TestAskedFor(t *testing.T) {
	for _, probe := range probeKinds {
		for _, hint := range hintKinds {
			f := newFake(64)
			c := f.config(Loaded())
			c.Probe, c.Hint = probe, hint
			a := f.advisor(t, c)
			if p, h := a.Kinds(); p != probe || h != hint {
				t.Errorf("asked for %s and %s it takes %s and %s", probe, hint, p, h)
			}
			for _, kind := range []string{string(probe), string(hint)} {
				f := newFake(64)
				f.fails[kind] = unix.EPERM
				a, err := newAdvisor(c, f.kernel())
				if !errors.Is(err, strategy.ErrUnsupported) || !errors.Is(err, unix.EPERM) || !strings.Contains(fmt.Sprint(err), kind) {
					t.Errorf("asked for %s and %s, of which %s is refused: %v, %v", probe, hint, kind, a, err)
				}
			}
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for rule, change := range map[string]func(*Config){
		"no policy":             func(c *Config) { c.Policy = nil },
		"no mapping":            func(c *Config) { c.Data = nil },
		"no page size":          func(c *Config) { c.PageSize = 0 },
		"an uneven page size":   func(c *Config) { c.PageSize = 5000 },
		"no workers":            func(c *Config) { c.Workers = 0 },
		"no faults":             func(c *Config) { c.Faults = 0 },
		"a probe of some name":  func(c *Config) { c.Probe = "peek" },
		"a hint of some name":   func(c *Config) { c.Hint = "shout" },
		"a file that is closed": nil,
	} {
		f := newFake(64)
		c := f.config(Loaded())
		if change == nil {
			f.fails["read"] = unix.EBADF
		} else {
			change(&c)
		}
		if a, err := newAdvisor(c, f.kernel()); err == nil || a != nil || f.open != 0 {
			t.Errorf("%s: %v, %v, %d open", rule, a, err, f.open)
		}
	}
}
