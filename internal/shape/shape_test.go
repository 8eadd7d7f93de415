package shape

import (
	"testing"

	"github.com/readbench/suite/readbench/strategy"
)

// Rows that make no sense are refused before anything is opened.
func TestCheck(t *testing.T) {
	for name, tc := range map[string]struct {
		shape Shape
		ownOp bool
	}{
		"no threads":                 {Shape{Batch: 1, MaxRange: 1}, false},
		"no ranges":                  {Shape{Threads: 1, MaxRange: 1}, false},
		"no bytes":                   {Shape{Threads: 1, Batch: 1}, false},
		"a predrawn scan":            {Shape{Threads: 1, Batch: 1, MaxRange: 1, Predrawn: true, Order: strategy.OrderSequential, Effect: Hint}, true},
		"predrawn reads":             {Shape{Threads: 1, Batch: 1, MaxRange: 1, Predrawn: true}, true},
		"hints that are drawn":       {Shape{Threads: 1, Batch: 1, MaxRange: 1, Effect: Hint}, true},
		"predrawn, and nothing done": {Shape{Threads: 1, Batch: 1, MaxRange: 1, Predrawn: true, Effect: None}, false},
		"units that are predrawn":    {Shape{Threads: 1, Batch: 1, MaxRange: 1, Units: 9, Predrawn: true}, true},
		"a scan of units":            {Shape{Threads: 1, Batch: 1, MaxRange: 1, Units: 9, Order: strategy.OrderSequential}, true},
		"faults of units":            {Shape{Threads: 1, Batch: 1, MaxRange: 1, Units: 9, Effect: Fault}, true},
		"units, and nothing done":    {Shape{Threads: 1, Batch: 1, MaxRange: 1, Units: 9}, false},
	} {
		if err := tc.shape.Check(tc.ownOp); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, tc := range map[string]struct {
		shape Shape
		ownOp bool
	}{
		"reads":            {Shape{Threads: 1, Batch: 1, MaxRange: 1}, false},
		"predrawn hints":   {Shape{Threads: 1, Batch: 1, MaxRange: 1, Predrawn: true, Effect: Hint}, true},
		"predrawn nothing": {Shape{Threads: 1, Batch: 1, MaxRange: 1, Predrawn: true, Effect: None}, true},
		"units":            {Shape{Threads: 1, Batch: 1, MaxRange: 1, Units: 9}, true},
	} {
		if err := tc.shape.Check(tc.ownOp); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
