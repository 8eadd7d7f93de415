package readbench

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/refusal"
)

// skip skips the row. The testing package shows the cause only with -v.
func skip(b *testing.B, cause error) {
	if !testing.Verbose() {
		skipped.add(b.Name(), cause)
	}
	b.Skip(cause)
}

// skipped are the rows of this process that were skipped.
var skipped skips

// skips tell each cause once, when the first row meets it, and at the end which rows it took in all. They are safe for concurrent use.
type skips struct {
	mu     sync.Mutex
	causes []*skipCause
}

type skipCause struct {
	key   string   // what makes it one cause
	short string   // its text, in short, as the first row had it
	same  bool     // whether all rows had that text, to the number
	rows  []string // names, in the order of the rows
}

var number = regexp.MustCompile(`[0-9]+`)

// inNumbers stands for numbers that differ from row to row.
const inNumbers = "…"

// add notes that a row was skipped, and prints the cause if it is new. Causes are one if they differ in numbers only, and if
// they differ in who met them (see refusal.Innermost).
func (s *skips) add(row string, cause error) {
	short := inShort(cause)
	key := number.ReplaceAllString(short, inNumbers)
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.causes, func(c *skipCause) bool { return c.key == key })
	if i < 0 {
		s.causes = append(s.causes, &skipCause{key, short, true, []string{row}})
		notice.Printf("skip %s: %v", row, cause)
		return
	}
	c := s.causes[i]
	c.same = c.same && c.short == short
	if !slices.Contains(c.rows, row) { // -count runs a row several times
		c.rows = append(c.rows, row)
	}
}

// inShort is what was refused and why, without the remedy, which comes behind a semicolon.
func inShort(cause error) string {
	if inner := refusal.Innermost(cause); inner != nil {
		cause = inner
	}
	line, _, _ := strings.Cut(cause.Error(), "\n")
	text, _, _ := strings.Cut(line, "; ")
	return text
}

// tell prints a line for each cause that took more rows than the one with which it was told.
func (s *skips) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.causes {
		if len(c.rows) == 1 {
			continue
		}
		text := c.short
		if !c.same {
			text = c.key + " (-v has the numbers)"
		}
		notice.Printf("skip: %s: %d rows in all: %s", text, len(c.rows), strings.Join(patterns(c.rows), ", "))
	}
	s.causes = nil
}

// patterns are the names of rows in short: where names differ in one part, between two '/', that part lists its forms, as in
// Benchmark(Mmap|Pread)/case=(hot|cold)/threads=1. Together they stand for these rows and no others.
func patterns(rows []string) []string {
	const benchmark = "Benchmark"
	var functions []string
	below := map[string][][]string{} // the parts of the rows of each function
	for _, row := range rows {
		function, rest, _ := strings.Cut(strings.TrimPrefix(row, benchmark), "/")
		if below[function] == nil {
			functions = append(functions, function)
		}
		below[function] = append(below[function], strings.Split(rest, "/"))
	}
	var order []string
	of := map[string][]string{} // functions with the same rows
	for _, f := range functions {
		for _, p := range products(below[f]) {
			if of[p] == nil {
				order = append(order, p)
			}
			of[p] = append(of[p], f)
		}
	}
	for i, p := range order {
		order[i] = strings.TrimSuffix(benchmark+alternatives(of[p])+"/"+p, "/")
	}
	return order
}

// products writes names, each cut into parts, as lists of what their parts may be.
func products(names [][]string) []string {
	forms := make([][]string, len(names[0]))
	size, sameLength := 1, true
	for _, name := range names {
		sameLength = sameLength && len(name) == len(forms)
	}
	if sameLength {
		for i := range forms {
			for _, name := range names {
				if !slices.Contains(forms[i], name[i]) {
					forms[i] = append(forms[i], name[i])
				}
			}
			size *= len(forms[i])
		}
		if size == len(names) {
			parts := make([]string, len(forms))
			for i := range forms {
				parts[i] = alternatives(forms[i])
			}
			return []string{strings.Join(parts, "/")}
		}
	}
	// Those that begin like the first one, up to and with the first part in which names differ, and the others.
	part := func(name []string, at int) string {
		return strings.Join(name[min(at, len(name)):min(at+1, len(name))], "")
	}
	at := 0
	for slices.IndexFunc(names, func(name []string) bool { return part(name, at) != part(names[0], at) }) < 0 {
		at++
	}
	var like, others [][]string
	for _, name := range names {
		if part(name, at) == part(names[0], at) {
			like = append(like, name)
		} else {
			others = append(others, name)
		}
	}
	return append(products(like), products(others)...)
}

// alternatives writes several forms of a part as KEY=(FORM|FORM).
func alternatives(forms []string) string {
	if len(forms) == 1 {
		return forms[0]
	}
	key, _, _ := strings.Cut(forms[0], "=")
	key += "="
	if slices.ContainsFunc(forms, func(form string) bool { return !strings.HasPrefix(form, key) }) {
		key = ""
	}
	values := make([]string, len(forms))
	for i, form := range forms {
		values[i] = strings.TrimPrefix(form, key)
	}
	return fmt.Sprintf("%s(%s)", key, strings.Join(values, "|"))
}
