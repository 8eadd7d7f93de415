package pagecache

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestResidencyIsReadable(t *testing.T) {
	for _, c := range []struct {
		r     Residency
		share float64
		text  string
	}{
		{Residency{}, 0, "0 of 0 pages resident (0.00 %)"},
		{Residency{Pages: 8}, 0, "0 of 8 pages resident (0.00 %)"},
		{Residency{Pages: 8, Resident: 1}, 0.125, "1 of 8 pages resident (12.50 %)"},
		{Residency{Pages: 3000, Resident: 1}, 1.0 / 3000, "1 of 3000 pages resident (0.03 %)"},
		{Residency{Pages: 8, Resident: 8}, 1, "8 of 8 pages resident (100.00 %)"},
	} {
		if got := c.r.Share(); got != c.share {
			t.Errorf("%+v: share %v, want %v", c.r, got, c.share)
		}
		if got := c.r.String(); got != c.text {
			t.Errorf("%+v: %q, want %q", c.r, got, c.text)
		}
	}
}
