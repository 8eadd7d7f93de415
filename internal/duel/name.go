package duel

import "strings"

// cellKeys are the labels of a row that say what has to be done. All others, and the function's name, say who does it.
var cellKeys = map[string]bool{"case": true, "read": true, "threads": true, "procs": true, "topk": true, "rate": true}

// A name is that of a row, in its parts: BenchmarkPread/case=hot/threads=1.
type name struct {
	function string // without Benchmark
	labels   []string
}

func parse(row string) name {
	parts := strings.Split(row, "/")
	return name{strings.TrimPrefix(parts[0], "Benchmark"), parts[1:]}
}

// cell is what has to be done: the labels of cellKeys.
func (n name) cell() string { return strings.Join(n.pick(true), "/") }

// who are the labels of the contestant.
func (n name) who() []string { return n.pick(false) }

func (n name) pick(cell bool) (labels []string) {
	for _, label := range n.labels {
		if key, _, _ := strings.Cut(label, "="); cellKeys[key] == cell {
			labels = append(labels, label)
		}
	}
	return labels
}

// parts are what may tell contestants apart, by key. The function's key is "".
func (n name) parts() (keys []string, values map[string]string) {
	keys, values = []string{""}, map[string]string{"": n.function}
	for _, label := range n.who() {
		key, value, _ := strings.Cut(label, "=")
		keys, values[key] = append(keys, key), value
	}
	return keys, values
}
