package readbench

import "github.com/readbench/suite/internal/datafile"

// A checker looks at what was read: the reason why the compiler cannot leave a read out, and why every page of
// a mapping that is handed out instead of copied is touched. One per worker.
type checker struct {
	content datafile.Content
	page    int
	how     func(*checker, []byte, Range) bool
	sum     byte
}

func newChecker(f *File, v Verify) checker {
	c := checker{page: f.page}
	switch {
	case f.content == nil:
		c.how = (*checker).touch
	case v == VerifyFull:
		c.content, c.how = *f.content, (*checker).full
	default:
		c.content, c.how = *f.content, (*checker).pages
	}
	return c
}

// ok reports whether p can be what r asked for.
func (c *checker) ok(p []byte, r Range) bool { return len(p) == r.N && c.how(c, p, r) }

func (c *checker) pages(p []byte, r Range) bool { return c.content.CheckStrides(p, r.Off, c.page) }

func (c *checker) full(p []byte, r Range) bool { return c.content.Check(p, r.Off) }

// touch is for files of unknown content: it loads a byte of every page.
func (c *checker) touch(p []byte, _ Range) bool {
	sum := c.sum + p[len(p)-1]
	for i := 0; i < len(p); i += c.page {
		sum += p[i]
	}
	c.sum = sum
	return true
}
