package duel

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Samples prints the rounds in Go benchmark format: of each round a line for each contestant that was in it, in their order, with the key contestant last.
// So lines of one round belong together, and benchstat -col /contestant compares. ns/op and ops/ms are two ways to
// write the rate of all workers; a turn without an op has ops/ms only.
func (r *Result) Samples(w io.Writer) error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(r.Config)) {
		fmt.Fprintf(&b, "%s: %s\n", key, r.Config[key])
	}
	parts := strings.Split(r.Title, "/")
	if len(parts[0]) == 0 || strings.Contains(parts[0], "=") {
		parts = append([]string{"Duel"}, parts...)
	}
	title := "Benchmark" + strings.Join(parts, "/")
	names := make([]string, len(r.Contestants))
	for i, c := range r.Contestants {
		names[i] = title + "/contestant=" + keyed(c.Label)
	}
	for _, round := range r.samples {
		for i, s := range round {
			switch {
			case s.Rate < 0: // it is out
			case s.Ops == 0:
				fmt.Fprintf(&b, "%s 0 0 ops/ms\n", names[i])
			default:
				fmt.Fprintf(&b, "%s %d %.6g ns/op %.6g ops/ms\n", names[i], s.Ops, 1e9/s.Rate, s.Rate/1e3)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// processors is what parsers of benchmark names take for the number of processors.
var processors = regexp.MustCompile(`-([0-9]+)$`)

// keyed is a label as a value in the name of a benchmark.
func keyed(label string) string {
	label = strings.NewReplacer("/", "_", " ", ",", "\t", ",").Replace(label)
	return processors.ReplaceAllString(label, "_$1")
}
