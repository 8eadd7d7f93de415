package readtest

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// reads makes a liar of a strategy (Pread if it is nil) whose readers do something wrong.
func reads(s strategy.Strategy, wrong func(counting) strategy.Reader) liar {
	return liar{Strategy: s, reader: func(r strategy.Reader) strategy.Reader { return wrong(keep(r)) }}
}

// opens makes a liar of a strategy that opens something wrong.
func opens(s strategy.Strategy, wrong func(strategy.Opened) strategy.Opened) liar {
	return liar{Strategy: s, opened: func(o strategy.Opened, _ *strategy.File) (strategy.Opened, error) { return wrong(o), nil }}
}

// Every rule catches the strategies that break it, and says what is wrong.
func TestLiarsAreCaught(t *testing.T) {
	var leaked []*os.File
	defer func() {
		for _, fd := range leaked {
			if err := fd.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	const (
		anyRange  = "any range inside the file can be read"
		anyOrder  = "ranges come in any order and more than once"
		together  = "workers read at the same time"
		allocates = "nothing allocates once it is warm"
		counts    = "counts agree with what was asked for and with the kernel"
		fails     = "a hint that fails, or a file that ends early, is an error"
		evictable = "pages can be populated, dropped and evicted"
		direct    = "direct reads leave nothing in the page cache"
		uncached  = "what was evicted is read from the device again"
		closes    = "it can be opened more than once, and closing leaves nothing"
	)
	mmap := strategies.Mmap()
	liars := []struct {
		rule, what, want string
		liar             liar
	}{
		{anyRange, "reads one byte too early at the end", "byte", reads(nil, func(r counting) strategy.Reader { return shiftsLastPage{r} })},
		{anyRange, "delivers less and says nothing", "", reads(nil, func(r counting) strategy.Reader { return short{r} })},
		{anyRange, "has no hints, and tries", "hint: invalid argument", reads(nil, func(r counting) strategy.Reader { return failingHint{r} })},
		{anyOrder, "delivers twice", "2 times", reads(nil, func(r counting) strategy.Reader { return twice{r} })},
		{anyOrder, "does not deliver the last", "0 times", reads(nil, func(r counting) strategy.Reader { return forgetsLast{r} })},
		{together, "has one reader at a time", "another worker is reading", opens(nil, func(o strategy.Opened) strategy.Opened { return single{o, make(chan struct{}, 1)} })},
		{allocates, "allocates", "allocates", reads(nil, func(r counting) strategy.Reader { return allocating{r} })},
		{counts, "counts too much", "the kernel", reads(nil, func(r counting) strategy.Reader { return overcounting{r} })},
		{counts, "reads by other calls than it says", "the kernel", reads(nil, func(r counting) strategy.Reader { return undercounting{r} })},
		{counts, "hints and makes no call", "counts no call", reads(mmap, func(r counting) strategy.Reader { return uselessHint{r} })},
		{fails, "delivers what it had, after an error", "gave no error", reads(nil, func(r counting) strategy.Reader { return swallowing{r, new([]byte)} })},
		{evictable, "keeps pages that it is to drop", "keeps pages", opens(mmap, func(o strategy.Opened) strategy.Opened { return stubborn{o} })},
		{evictable, "maps the file and is no Mapper", "keeps pages", opens(mmap, func(o strategy.Opened) strategy.Opened { return lyingOpened{Opened: o} })},
		{evictable, "cannot populate", "populate: invalid argument", opens(mmap, func(o strategy.Opened) strategy.Opened {
			return unpopulated{o, errors.New("populate: invalid argument")}
		})},
		{evictable, "does not populate", "0 are in the page tables", opens(mmap, func(o strategy.Opened) strategy.Opened { return unpopulated{o, nil} })},
		{direct, "reads through the page cache", "resident", opens(nil, func(o strategy.Opened) strategy.Opened { return aligned{lyingOpened{Opened: o}, 512} })},
		{direct, "has an alignment that is none", "no power of two", opens(nil, func(o strategy.Opened) strategy.Opened { return aligned{lyingOpened{Opened: o}, 1000} })},
		{closes, "leaves a descriptor", "descriptors", liar{opened: func(o strategy.Opened, f *strategy.File) (strategy.Opened, error) {
			fd, err := f.Open(0)
			leaked = append(leaked, fd)
			return o, err
		}}},
		{closes, "cannot be closed", "close: bad descriptor", opens(nil, func(o strategy.Opened) strategy.Opened { return stuck{o} })},
	}
	for _, h := range hoarders() {
		liars = append(liars, struct {
			rule, what, want string
			liar             liar
		}{uncached, h.what, "memory that the strategy keeps", h.liar})
	}
	broken := map[string]bool{}
	for _, l := range liars {
		broken[l.rule] = true
		if l.liar.Strategy == nil {
			l.liar.Strategy = strategies.Pread()
		}
		t.Run(l.rule+"/"+l.what, func(t *testing.T) {
			check := ruleOf(t, l.rule)
			switch err := check(newEnv(t, l.liar)); {
			case err == nil:
				t.Error("not caught")
			case skips(err):
				if honest := check(newEnv(t, l.liar.Strategy)); errors.Is(honest, strategy.ErrUnsupported) {
					t.Skip(honest)
				}
				t.Errorf("skipped, and so not caught: %v", err)
			case !strings.Contains(err.Error(), l.want):
				t.Errorf("caught, but %q does not say %q", err, l.want)
			default:
				t.Log(err)
			}
		})
	}
	for _, r := range rules {
		if !broken[r.name] {
			t.Errorf("no strategy of this test breaks the rule: %s", r.name)
		}
	}
}

// ruleOf is the check of a rule.
func ruleOf(t *testing.T, name string) func(*env) error {
	t.Helper()
	for _, r := range rules {
		if r.name == name {
			return r.check
		}
	}
	t.Fatalf("there is no rule %q", name)
	return nil
}
