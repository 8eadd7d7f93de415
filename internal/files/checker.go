package files

import (
	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// A Checker looks at what was read: the reason why the compiler cannot leave a read out, and why every page of
// a mapping that is handed out instead of copied is touched. One per worker.
type Checker struct {
	content datafile.Content
	page    int
	how     func(*Checker, []byte, strategy.Range) bool
	sum     byte
}

// Checker is one for reads of f.
func (f *File) Checker(v config.Verify) Checker {
	c := Checker{page: f.PageSize()}
	switch {
	case f.content == nil:
		c.how = (*Checker).touch
	case v == config.VerifyFull:
		c.content, c.how = *f.content, (*Checker).full
	default:
		c.content, c.how = *f.content, (*Checker).pages
	}
	return c
}

// OK reports whether p can be what r asked for.
func (c *Checker) OK(p []byte, r strategy.Range) bool { return len(p) == r.N && c.how(c, p, r) }

func (c *Checker) pages(p []byte, r strategy.Range) bool {
	return c.content.CheckStrides(p, r.Off, c.page)
}

func (c *Checker) full(p []byte, r strategy.Range) bool { return c.content.Check(p, r.Off) }

// touch is for files of unknown content: it loads a byte of every page.
func (c *Checker) touch(p []byte, _ strategy.Range) bool {
	sum := c.sum + p[len(p)-1]
	for i := 0; i < len(p); i += c.page {
		sum += p[i]
	}
	c.sum = sum
	return true
}
