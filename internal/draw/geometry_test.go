package draw

import (
	"math"
	"testing"
)

// At every page size: slots lie inside the file and share no page, and a read starts in its slot's first page.
func TestGeometry(t *testing.T) {
	for _, page := range []int{4 << 10, 16 << 10, 64 << 10} {
		for _, readSize := range []int{1, 1000, 4 << 10, 16 << 10, 16<<10 + 1, 1 << 20} {
			for _, fileSize := range []int64{1 << 30, 1<<30 + 12345, int64(readSize+page-1)/int64(page)*int64(page) + int64(page)} {
				for _, direct := range []bool{false, true} {
					g := random(fileSize, readSize, page, direct)
					if g.Slots < 1 || g.Slots*g.SlotSize > fileSize || fileSize-g.Slots*g.SlotSize >= g.SlotSize {
						t.Fatalf("page %d, read %d, file %d: %d slots of %d", page, readSize, fileSize, g.Slots, g.SlotSize)
					}
					if g.SlotSize%int64(page) != 0 {
						t.Fatalf("page %d, read %d: slots of %d share pages", page, readSize, g.SlotSize)
					}
					lowest, highest := g.offset(g.Slots-1, 0), g.offset(g.Slots-1, math.MaxUint64)
					start := (g.Slots - 1) * g.SlotSize
					wantHighest := start + int64(page) - 1
					if direct {
						wantHighest = start
					}
					if lowest != start || highest != wantHighest {
						t.Errorf("page %d, read %d, direct %v: reads of the last slot, at %d, start from %d to %d; want to %d",
							page, readSize, direct, start, lowest, highest, wantHighest)
					}
					if end := highest + int64(readSize); end > start+g.SlotSize {
						t.Errorf("page %d, read %d: a read ends at %d, its slot at %d", page, readSize, end, start+g.SlotSize)
					}
				}
			}
		}
	}
}

// A 16 KiB read of a hot or cold row touches 5 pages of 4 KiB but for 1 in 4096, as at random offsets of a file.
func TestGeometryTouches(t *testing.T) {
	const page, read = 4 << 10, 16 << 10
	g := random(1<<30, read, page, false)
	fives := 0
	const starts = 1 << 12
	for i := range uint64(starts) {
		off := g.offset(3, i<<52)
		if (off+read-1)/page-off/page+1 == 5 {
			fives++
		}
	}
	if fives != starts-1 {
		t.Errorf("%d of %d starts touch 5 pages", fives, starts)
	}
}
