package blockdev

// What the walk down a stack keeps in mind. It knows no file system and no kind of device.

import "fmt"

// A walk goes down a stack, depth first, and keeps the first reason why it may end in memory.
type walk struct {
	sys    string
	mounts []mount
	look   func(path string) (node, error)

	depth  int
	memory string
}

// deepest is how many file systems and devices may lie on each other; more are taken for a circle.
const deepest = 32

// down counts a step; the caller undoes it with w.depth--.
func (w *walk) down() bool {
	w.depth++
	return w.depth <= deepest
}

// because notes a reason.
func (w *walk) because(format string, args ...any) {
	if w.memory == "" {
		w.memory = fmt.Sprintf(format, args...)
	}
}
