package cases

import "testing"

// Names of mixed cases have a whole number from 1 to 99, written in one way.
func TestParseMixed(t *testing.T) {
	for name, want := range map[string]int{"mixed1": 1, "mixed10": 10, "mixed99": 99, "mixed0": 0, "mixed100": 0, "mixed": 0, "mixed01": 0, "mixed+1": 0, "mixed-1": 0, "mixed1x": 0, "Mixed1": 0, "hot": 0} {
		c, ok := parseMixed(name)
		if ok != (want > 0) || ok && (c.percent != want || c.name() != name) {
			t.Errorf("%q: %v, %v", name, c, ok)
		}
	}
}

// Names of pressure cases have a whole number above 100, written in one way.
func TestParsePressure(t *testing.T) {
	for name, want := range map[string]int{"pressure101": 101, "pressure110": 110, "pressure10000": 10000, "pressure100": 0, "pressure": 0, "pressure0110": 0, "pressure+110": 0, "pressure10001": 0, "pressure1e3": 0, "mixed10": 0} {
		c, ok := parsePressure(name)
		if ok != (want > 0) || ok && (c.percent != want || c.name() != name) {
			t.Errorf("%q: %v, %v", name, c, ok)
		}
	}
}
