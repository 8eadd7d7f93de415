package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A graph is what needs what, by name. Every name is a key, even if it needs nothing.
type graph map[string]map[string]bool

// A knot are names that need each other, sorted.
type knot []string

func (k knot) has(name string) bool { return slices.Contains(k, name) }

func (g graph) add(from, to string) {
	if from != to {
		g[from][to] = true
	}
}

// of is what a name needs, sorted.
func (g graph) of(name string) []string { return slices.Sorted(maps.Keys(g[name])) }

// knots are the strongly connected components of more than one name (Tarjan, "Depth-first search and linear graph
// algorithms", SIAM Journal on Computing 1972).
func (g graph) knots() (all []knot) {
	index, low := map[string]int{}, map[string]int{}
	on := map[string]bool{}
	var stack []string
	var visit func(string)
	visit = func(v string) {
		index[v], low[v] = len(index)+1, len(index)+1
		stack, on[v] = append(stack, v), true
		for _, w := range g.of(v) {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		var k knot
		for {
			w := stack[len(stack)-1]
			stack, on[w] = stack[:len(stack)-1], false
			k = append(k, w)
			if w == v {
				break
			}
		}
		if len(k) > 1 {
			slices.Sort(k)
			all = append(all, k)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(g)) {
		if index[v] == 0 {
			visit(v)
		}
	}
	return all
}

// layers are the names from those that nothing else needs to be there for, upwards: each needs only names of layers before
// its own. Names that need each other are in one layer, behind all others that can be placed.
func (g graph) layers() (all [][]string) {
	placed := map[string]bool{}
	for len(placed) < len(g) {
		var layer []string
		for _, v := range slices.Sorted(maps.Keys(g)) {
			ready := !placed[v]
			for w := range g[v] {
				ready = ready && placed[w]
			}
			if ready {
				layer = append(layer, v)
			}
		}
		if layer == nil {
			for _, v := range slices.Sorted(maps.Keys(g)) {
				if !placed[v] {
					layer = append(layer, v)
				}
			}
		}
		for _, v := range layer {
			placed[v] = true
		}
		all = append(all, layer)
	}
	return all
}

// draw prints the layers, the topmost first, and what each name needs.
func draw(w io.Writer, title string, g graph) {
	fmt.Fprintf(w, "%s\n", title)
	layers := g.layers()
	for i := len(layers) - 1; i >= 0; i-- {
		for _, v := range layers[i] {
			line := fmt.Sprintf("  %d  %s", i, v)
			if needs := g.of(v); len(needs) > 0 {
				line += " -> " + strings.Join(needs, " ")
			}
			fmt.Fprintln(w, line)
		}
	}
}
