package anytime

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// decode makes rounds of bytes: any float64, small ones mostly.
func decode(p []byte) []float64 {
	var xs []float64
	for len(p) >= 2 && len(xs) < 400 {
		switch p[0] {
		case 0xff:
			if len(p) < 9 {
				return xs
			}
			xs = append(xs, math.Float64frombits(binary.LittleEndian.Uint64(p[1:])))
			p = p[9:]
		case 0xfe:
			xs = append(xs, math.Inf(int(p[1])%2*2-1))
			p = p[2:]
		default:
			xs = append(xs, (float64(p[0])-126.5+float64(p[1])/256)/100)
			p = p[2:]
		}
	}
	return xs
}

// Whatever comes: no NaN, an interval that only shrinks and is turned round with x, e-values and p-values that are such.
func FuzzSequence(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 10, 200, 800} {
		p := make([]byte, n)
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		f.Add(slices.Clone(p))
		for i := range p {
			p[i] = p[i]/4 + 100
		}
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		s, turned := newSequence(t, level), newSequence(t, level)
		lo, hi := s.Interval()
		peak := 1.0
		for _, x := range decode(p) {
			s.Add(x)
			turned.Add(-x)
			l, h := s.Interval()
			tl, th := turned.Interval()
			if tl != -h || th != -l || turned.E(0) != s.E(0) && math.Abs(turned.E(0)/s.E(0)-1) > 1e-12 {
				t.Fatalf("%v to %v, but for −x %v to %v; e-values %v and %v", l, h, tl, th, s.E(0), turned.E(0))
			}
			if !(l >= lo && h <= hi) {
				t.Fatalf("the interval grew from %v…%v to %v…%v", lo, hi, l, h)
			}
			if l == lo && h == hi && s.Contradiction() {
				break
			}
			lo, hi = l, h
			if e := s.E(0); !(e >= 0) || math.IsInf(e, 0) {
				t.Fatalf("e-value %v", e)
			}
			peak = max(peak, s.E(0))
			if s.P() != 1/peak {
				t.Fatalf("p-value %v, largest e-value %v", s.P(), peak)
			}
		}
		x, ok := s.Estimate()
		y, _ := turned.Estimate()
		if math.IsNaN(x) || ok && s.N() == 0 || math.Abs(x+y) > 1e-6 {
			t.Fatalf("estimate %v, %v; for −x %v", x, ok, y)
		}
		if s.Contradiction() {
			return
		}
		if ok && !(lo <= x && x <= hi) {
			t.Fatalf("estimate %v outside %v to %v", x, lo, hi)
		}
		// The e-value rises to both sides.
		for _, theta := range []float64{-3, -0.1, 0, 0.1, 3} {
			up, down := s.lower.against(theta, s.rounds), s.lower.against(theta+0.05, s.rounds)
			if !(up.total() >= down.total()) {
				t.Fatalf("bets on x > %v made %v, on x > %v more: %v", theta, up.total(), theta+0.05, down.total())
			}
		}
	})
}

// Rounds that are shifted shift the interval; rounds in other units (log base 2) stretch it.
func TestShiftAndStretch(t *testing.T) {
	for _, d := range disks {
		const shift, stretch = 0.5, 4
		a, b, c := newSequence(t, level), newSequence(t, level), newSequence(t, level)
		next := newDuel(d, 5, 0.03, true)
		for range 500 {
			x := next()
			a.Add(x)
			b.Add(x + shift)
			c.Add(x * stretch)
		}
		lo, hi := a.Interval()
		step := (hi - lo) / 32
		for _, other := range []struct {
			s    *Sequence
			back func(v float64) float64
		}{
			{b, func(v float64) float64 { return v - shift }},
			{c, func(v float64) float64 { return v / stretch }},
		} {
			l, h := other.s.Interval()
			if l, h = other.back(l), other.back(h); math.Abs(l-lo) > step || math.Abs(h-hi) > step {
				t.Errorf("%s: %v to %v, shifted or stretched and back %v to %v", d.name, lo, hi, l, h)
			}
			x, _ := a.Estimate()
			y, _ := other.s.Estimate()
			if math.Abs(other.back(y)-x) > 1e-6 {
				t.Errorf("%s: estimate %v, shifted or stretched and back %v", d.name, x, other.back(y))
			}
		}
	}
}

// The order of rounds matters (each is judged by those before it), but not whether the ends are asked for.
func TestLookingChangesNothing(t *testing.T) {
	looked, not := newSequence(t, level), newSequence(t, level)
	a, b := newDuel(disks[3], 9, 0.01, true), newDuel(disks[3], 9, 0.01, true)
	for range 500 {
		looked.Add(a())
		looked.Interval()
		looked.Estimate()
		looked.E(0.3)
		not.Add(b())
	}
	l, h := looked.Interval()
	if lo, hi := not.Interval(); l != lo || h != hi || looked.P() != not.P() {
		t.Errorf("%v to %v if looked at, %v to %v if not", l, h, lo, hi)
	}
}
