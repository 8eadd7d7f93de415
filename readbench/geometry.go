package readbench

import "math/bits"

// geometry cuts a file into slots. In random order a slot is one range and one page (or one unit of direct reads, if
// that is more) long, and its read starts anywhere in its first page: so a read touches as many pages as one at a
// random offset, and two slots never share a page. Hot and cold use the same slots. Direct reads start where their
// slot starts, which is aligned; sequential ones lie side by side.
type geometry struct {
	base     int64  // where the first slot starts, in bytes
	slots    int64  // number of slots
	slotSize int64  // bytes
	shift    uint   // of a 64-bit random number, to make it a start within a page
	start    uint64 // the last such start, 0 if reads are aligned; a power of two less 1
}

// nullFactor is how much longer a row that reads nothing takes the file to be: epochs that are over in
// microseconds would be all it measures.
const nullFactor = 1 << 10

// faultAround is how many bytes the kernel maps at a fault on a page that is resident, unless it was told otherwise
// (fault_around_bytes in debugfs): so far apart are the touches of a row that wants each to be a fault.
const faultAround = 64 << 10

// cut makes the slots of a row; unit is the page or the unit of direct reads.
func (r *running) cut(unit int, direct bool) error {
	f, row := r.files[0], &r.row
	switch {
	case row.Units > 0: // a slot is a unit, and a range's offset its number
		r.geometry = evenGeometry(row.Units, 1)
	case row.Order == OrderSequential:
		r.geometry = evenGeometry(f.size, row.MaxRange)
	case row.Effect == EffectFault && row.Case == "hot":
		r.geometry = evenGeometry(f.size, faultAround)
	case row.Effect == EffectFault:
		r.geometry = evenGeometry(f.size, unit)
	default:
		r.geometry = newGeometry(f.size, row.MaxRange, unit, direct)
	}
	need := int64(1)
	if row.Order == OrderSequential {
		need = int64(row.Threads) // each has a stripe
	}
	if r.slots < need {
		return r.suite.config.Blame(Unsupported("%s has %d bytes, too few for %d places of %d; set %sSIZE to %s or more", f.path, f.size, need, r.slotSize, EnvPrefix, Size(need*r.slotSize)), fileAmount...)
	}
	if row.Effect == EffectNone {
		r.slots *= nullFactor
	}
	return nil
}

func newGeometry(fileSize int64, maxRange, unit int, direct bool) geometry {
	u := int64(unit)
	g := geometry{slotSize: (int64(maxRange)+u-1)/u*u + u, shift: uint(64-bits.TrailingZeros(uint(unit))) & 63}
	g.slots = fileSize / g.slotSize
	if !direct {
		g.start = uint64(unit) - 1
	}
	return g
}

// evenGeometry has slots side by side, and reads that start where their slots start.
func evenGeometry(fileSize int64, slotSize int) geometry {
	return geometry{slots: fileSize / int64(slotSize), slotSize: int64(slotSize)}
}

// offset is where the read of a slot starts; random is uniform over all 64-bit numbers.
func (g *geometry) offset(slot int64, random uint64) int64 {
	return g.base + slot*g.slotSize + int64(random>>(g.shift&63)&g.start) // &63 tells the compiler that the shift is one
}
