package draw

import (
	"github.com/readbench/suite/internal/permute"
	"github.com/readbench/suite/readbench/strategy"
)

// Epochs goes through all slots in random order, each once before any comes again: one stretch of the positions of
// a permutation after the other. When there is not enough left of a permutation for a whole stretch, another one
// begins: there is no short epoch at the end of a pass over the file.
type Epochs struct {
	slots int64
	seed  uint64

	pass  uint64
	perm  permute.Permutation // of the present pass over the file
	base  int64               // the present stretch: limit positions from base on
	limit int64
}

// NewEpochs goes through so many slots, in an order that seed decides.
func NewEpochs(slots int64, seed uint64) Epochs { return Epochs{slots: slots, seed: seed} }

// advance takes the next stretch, with want of the slots; want is at most the number of slots.
func (e *Epochs) advance(want int64) {
	e.base += e.limit
	limit, ok := int64(0), false
	if e.pass > 0 {
		limit, ok = e.stretch(want)
	}
	if !ok {
		e.pass++
		e.perm = permute.New(uint64(e.slots), e.seed+e.pass)
		e.base = 0
		limit, _ = e.stretch(want) // a whole pass has all the slots that can be wanted
	}
	e.limit = limit
}

// stretch is how many positions from base on hold the slots that are wanted; ok is false if there are not so many left.
func (e *Epochs) stretch(want int64) (positions int64, ok bool) {
	left := int64(e.perm.Positions()) - e.base
	const long = 1 << 17
	if want > long { // the law of large numbers is exact enough
		positions = int64(float64(want) / float64(e.slots) * float64(e.perm.Positions()))
		return min(positions, left), positions <= left
	}
	slots := int64(0)
	for ; positions < left && slots < want; positions++ {
		if slot, _ := e.perm.At(uint64(e.base + positions)); slot < uint64(e.slots) {
			slots++
		}
	}
	return positions, slots == want
}

// offsets sets where the ranges start: in the slots of the present stretch, of which there are as many.
func (e *Epochs) offsets(rs []strategy.Range, g *Geometry) {
	n := 0
	for at := e.base; at < e.base+e.limit; at++ {
		if slot, rest := e.perm.At(uint64(at)); slot < uint64(e.slots) {
			rs[n].Off = g.offset(int64(slot), rest)
			n++
		}
	}
}
