package lucene

// maxBlocks is above the ten sub-blocks that every release of the library makes of a run.
const maxBlocks = 64

// run is one compressed run of a chunk: part 0 is the dictionary, parts 1 to blocks the sub-blocks. With LZ4 the
// compressed lengths of all parts stand in front; with DEFLATE each part's stands before it, so where a part is shows
// only once the one before it is known.
type run struct {
	index    int // in the chunk
	pos      int // bytes from the start of the chunk to the run
	rawBase  int // raw offset in the chunk
	raw      int // raw bytes
	head     int // bytes of the numbers in front of the first part; 0 until they are known
	dict     int // raw bytes of the dictionary
	block    int // raw bytes of a sub-block, the last may have fewer
	blocks   int // sub-blocks
	known    int // parts whose place is known
	next     int // bytes from the start of the chunk to what follows the last known part
	off, len [maxBlocks + 1]int
}

// parseHead reads the numbers in front of the first part from p, which starts at the run. It returns false if p is too
// short; problem is not empty if the numbers cannot be true. left is the bytes from the run to the chunk's end.
func (r *run) parseHead(c *cursor, lz4 bool, left int) (ok bool, problem string) {
	dict, block := c.vInt(), c.vInt()
	if !c.ok() {
		return false, ""
	}
	if dict > r.raw || dict < r.raw && block == 0 {
		return false, "lengths of dictionary and sub-blocks do not fit the length of the data"
	}
	blocks := 0
	if dict < r.raw {
		blocks = (r.raw-dict-1)/block + 1
	}
	if blocks > maxBlocks {
		return false, "more sub-blocks than any release of the library makes"
	}
	known := 0
	if lz4 {
		sum := 0
		for i := range blocks + 1 {
			r.off[i] = sum
			r.len[i] = c.vInt()
			sum += r.len[i]
		}
		if !c.ok() {
			return false, ""
		}
		if sum > left-c.at {
			return false, "the compressed lengths lead out of the chunk"
		}
		known = blocks + 1
		for i := range known {
			r.off[i] += r.pos + c.at
		}
		r.next = r.pos + c.at + sum
	} else {
		r.next = r.pos + c.at
	}
	r.dict, r.block, r.blocks, r.known, r.head = dict, block, blocks, known, c.at
	return true, ""
}

// rawLen returns the raw bytes of a part.
func (r *run) rawLen(part int) int {
	if part == 0 {
		return r.dict
	}
	return min(r.block, r.raw-r.dict-(part-1)*r.block)
}

// partOf returns the part that holds a raw offset of the chunk, which is in the run.
func (r *run) partOf(raw int) int {
	raw -= r.rawBase + r.dict
	if raw < 0 {
		return 0
	}
	return int(uint32(raw)/uint32(r.block)) + 1
}

// cut tells whether a document that ends in a part is decoded only as far as it goes: not the dictionary, which is
// needed as a whole, and not an LZ4 block that compressed (see decodePrefix).
func (r *run) cut(part int, mode Mode) bool {
	return part > 0 && (mode == BestCompression || r.len[part] >= r.rawLen(part))
}

// needed returns the raw bytes of a part that are decoded for a document that ends at a raw offset of the chunk, and how many
// bytes of the part that takes at the most.
func (r *run) needed(part, to int, mode Mode) (raw, packed int) {
	all := r.rawLen(part)
	if !r.cut(part, mode) {
		return all, r.len[part]
	}
	raw = min(all, to-r.rawBase-r.dict-(part-1)*r.block)
	if raw == all || mode == BestCompression {
		return raw, r.len[part]
	}
	return raw, min(r.len[part], prefixBound(raw, all))
}
