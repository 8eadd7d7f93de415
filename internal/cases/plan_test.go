package cases

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// Data is the percentage of the page cache that is left for it: of the whole file, or of what LIMIT leaves.
func TestPressurePlan(t *testing.T) {
	f := &files.File{File: strategy.NewFile("data.bin", 8<<30, nil)}
	page := int64(f.PageSize())
	for _, tc := range []struct {
		percent     int
		limit       config.Size
		data, cache float64 // GiB; 0 if the file is too small
	}{
		{110, 0, 8, 8 / 1.1}, {200, 0, 8, 4}, {110, 4 << 30, 4.4, 4}, {200, 4 << 30, 8, 4}, {201, 4 << 30, 0, 0}, {110, 1 << 20, 1.1 / 1024, 1. / 1024},
	} {
		data, cache, err := pressureCase{tc.percent}.plan(files.Set{f}, tc.limit)
		if (err != nil) != (tc.data == 0) {
			t.Fatalf("pressure%d, LIMIT=%v: %v", tc.percent, tc.limit, err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "set READBENCH_SIZE to") {
				t.Errorf("the remedy is missing in: %v", err)
			}
			if !errors.Is(err, strategy.ErrUnsupported) {
				t.Error("it is no reason to skip")
			}
			continue
		}
		const gib = 1 << 30
		if math.Abs(float64(data)-tc.data*gib) > float64(256*page) || math.Abs(float64(cache)-tc.cache*gib) > float64(page) || data%page != 0 || cache%page != 0 || data > f.Size() {
			t.Errorf("pressure%d, LIMIT=%v: %d bytes of data, %d of page cache", tc.percent, tc.limit, data, cache)
		}
	}
}
