package draw

import (
	"math/bits"
	"math/rand/v2"

	"github.com/readbench/suite/readbench/strategy"
)

// hundred is how many reads hold the share of a Mixed exactly.
const hundred = 100

// A Mixed draws a set share of its ranges from one part of the file, without replacement, and the others from another part,
// with it. Each hundred reads of a worker have as many from the first part as the share says, at random places among them.
type Mixed struct {
	cold    taker
	hot     Uniform
	percent uint64 // of the reads that are from the cold part

	left, need uint64           // of the present hundred reads: how many are left, and how many of these are to be cold
	isCold     []bool           // of the ranges that are being drawn
	colds      []strategy.Range // where the cold ones of them are

	drawn, coldDrawn int64 // since Reset
}

// NewMixed is one worker's, for up to batch ranges at a time. SetParts says where it draws.
func NewMixed(percent, batch int, s *Stock, rng *rand.PCG, gate Gate, e *Evictions) *Mixed {
	return &Mixed{
		cold: taker{s: s, gate: gate, evictions: e}, hot: Uniform{RNG: rng}, percent: uint64(percent),
		isCold: make([]bool, batch), colds: make([]strategy.Range, batch),
	}
}

// SetParts sets where the two parts lie. No op is under way.
func (d *Mixed) SetParts(hot, cold Geometry) { d.hot.Geometry, d.cold.Geometry = hot, cold }

// SetPercent sets the share of cold reads, from the next hundred on. No op is under way.
func (d *Mixed) SetPercent(percent int) { d.percent, d.left = uint64(percent), 0 }

// Reset has Drawn, and the hundred, begin at zero. No op is under way.
func (d *Mixed) Reset() { d.drawn, d.coldDrawn, d.left = 0, 0, 0 }

// Drawn is how many ranges were drawn since Reset, and how many of them from the cold part.
func (d *Mixed) Drawn() (all, cold int64) { return d.drawn, d.coldDrawn }

// Draw sets all offsets; it waits for the next epoch of the cold part when this one is used up.
func (d *Mixed) Draw(rs []strategy.Range) (int, error) {
	n := d.plan(len(rs))
	colds := d.colds[:n]
	if err := d.cold.takeOrWait(colds); err != nil {
		return 0, err
	}
	for i := range rs {
		if d.isCold[i] {
			rs[i].Off = colds[0].Off
			colds = colds[1:]
			continue
		}
		slot, rest := bits.Mul64(d.hot.RNG.Uint64(), uint64(d.hot.Slots))
		rs[i].Off = d.hot.offset(int64(slot), rest)
	}
	d.drawn += int64(len(rs))
	d.coldDrawn += int64(n)
	return len(rs), nil
}

// plan says which of the next n reads are cold, and how many: selection sampling (Knuth, The Art of Computer Programming
// 3.4.2, algorithm S) of percent from each hundred.
func (d *Mixed) plan(n int) (colds int) {
	for i := range n {
		if d.left == 0 {
			d.left, d.need = hundred, d.percent
		}
		at, _ := bits.Mul64(d.hot.RNG.Uint64(), d.left)
		d.isCold[i] = at < d.need
		if d.isCold[i] {
			d.need--
			colds++
		}
		d.left--
	}
	return colds
}
