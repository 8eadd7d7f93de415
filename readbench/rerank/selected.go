package rerank

import (
	"flag"
	"regexp"
)

// selected reports whether -bench lets run rows of a Benchmark function of this package that have a label such as
// backend=pool, for what is worth doing only then. When in doubt they are to run.
func selected(label string) bool {
	f := flag.Lookup("test.bench")
	return f == nil || selects(f.Value.String(), label)
}

// labelLevel is where the label stands in a row's name: Benchmark…/case=…/label/….
const labelLevel = 2

func selects(pattern, label string) bool {
	for _, alternative := range split(pattern, '|') {
		levels := split(alternative, '/')
		if len(levels) <= labelLevel {
			return true
		}
		if re, err := regexp.Compile(levels[labelLevel]); err != nil || re.MatchString(label) {
			return true
		}
	}
	return false
}

// split cuts a pattern at a byte as the testing package does: not in parentheses or brackets, nor behind a backslash.
func split(pattern string, at byte) (parts []string) {
	depth, from := 0, 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '\\':
			i++
		case at:
			if depth <= 0 {
				parts = append(parts, pattern[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, pattern[from:])
}
