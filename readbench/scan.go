package readbench

// A scan is one worker's way through its stripe of the file, read by read. It lives as long as the row.
type scan struct {
	readSize     int64
	from, to, at int64 // bytes: the stripe, and where the next read starts
}

func newScan(r *running, worker int) scan {
	from, to := r.setup().Stripe(r.files[0], worker)
	if r.row.Effect == EffectNone { // the longer file that nothing is read of
		from, to = from*nullFactor, to*nullFactor
	}
	return scan{int64(r.row.MaxRange), from, to, from}
}

// next sets the offsets of the next reads and says of how many: fewer than asked for at the end of the stripe, and
// none behind it.
func (s *scan) next(rs []Range) int {
	n := int(min(int64(len(rs)), (s.to-s.at)/s.readSize))
	for i := range rs[:n] {
		rs[i].Off = s.at
		s.at += s.readSize
	}
	return n
}

// endless is a scan that starts over at the end of its stripe.
type endless struct{ scan }

func (s *endless) draw(rs []Range) (int, error) {
	if s.at == s.to {
		s.at = s.from
	}
	return s.next(rs), nil
}

// once is a scan that waits at the end of its stripe until all workers are at the end of theirs and the file was
// evicted, before it starts over: so that no page is read that an earlier round left in the page cache.
type once struct {
	scan
	w       *Worker
	scanned int64 // bytes since the file was evicted
}

func (s *once) draw(rs []Range) (int, error) {
	if s.at == s.to {
		if err := s.w.pause(); err != nil {
			return 0, err
		}
		s.at = s.from
	}
	if s.w.catchUp() {
		s.scanned = 0
	}
	n := s.next(rs)
	s.scanned += int64(n) * s.readSize
	return n, nil
}
