//go:build giouring

package uring

import "testing"

// A program with the tag has the engine, so that the other tests do run on it.
func TestGiouringIsBuiltIn(t *testing.T) {
	if n := len(engines(t)); n != 2 {
		t.Errorf("%d engines, want 2", n)
	}
}
