// Package draw says where the next reads of a worker go: with replacement, without it, one after the other, from a list. It
// knows the shape of a row and the size of a file, not what is read there, how, or in which state of the page cache.
package draw

import "github.com/readbench/suite/readbench/strategy"

// A Drawer sets the offsets of the next ranges to read, and says of how many; it may wait at the gate. One per worker.
type Drawer interface {
	Draw(rs []strategy.Range) (n int, err error)
}

// A Gate is where a worker waits for the others, until the file was evicted. One per worker.
type Gate interface {
	// Pause returns when all workers have come and the file is evicted; with an error if the run is over.
	Pause() error
	// CatchUp tells the worker's readers that the file was evicted.
	CatchUp()
}

// Evictions counts how often the files of a row were evicted: what was drawn before belongs to an epoch that is over. It is
// written while no worker is at work.
type Evictions struct{ n int64 }

// Add counts one.
func (e *Evictions) Add() { e.n++ }

// N is how many there were.
func (e *Evictions) N() int64 { return e.n }
