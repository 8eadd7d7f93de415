package draw

import "testing"

// Each epoch has the slots that were wanted, and begins where the last one ended.
func TestEpochsAreExact(t *testing.T) {
	const slots, want = 13107, 33
	e := NewEpochs(slots, 1)
	for i := range 1000 {
		pass, end := e.pass, e.base+e.limit
		e.advance(want)
		if e.pass == pass && e.base != end {
			t.Fatalf("epoch %d begins at position %d, the one before ended at %d", i, e.base, end)
		}
		n := int64(0)
		for at := range e.limit {
			if slot, _ := e.perm.At(uint64(e.base + at)); slot < slots {
				n++
			}
		}
		if n != want || e.base+e.limit > int64(e.perm.Positions()) {
			t.Fatalf("epoch %d: %d slots in %d positions from %d", i, n, e.limit, e.base)
		}
	}
	if e.pass < 2 {
		t.Error("no pass over the file ended")
	}
}
