package pressure

// A Meter sums what the machine tells of pressure over intervals. Reading that takes several files; a nil Meter reads nothing.
// It is not safe for concurrent use.
type Meter struct {
	source Source
	at     Totals
	sum    *Totals // nil before the first interval
}

// NewMeter returns a stopped meter at zero.
func NewMeter(s Source) *Meter { return &Meter{source: s} }

// Start begins an interval.
func (m *Meter) Start() (err error) {
	if m != nil {
		m.at, err = m.source.Read()
	}
	return err
}

// Stop ends the interval that Start began and adds it to the sum.
func (m *Meter) Stop() error {
	if m == nil {
		return nil
	}
	now, err := m.source.Read()
	if err != nil {
		return err
	}
	sum := now.Sub(m.at)
	if m.sum != nil {
		sum = m.sum.Add(sum)
	}
	m.sum = &sum
	return nil
}

// Sum is the sum so far, with nil parts for what was not told.
func (m *Meter) Sum() Totals {
	if m == nil || m.sum == nil {
		return Totals{}
	}
	return *m.sum
}

// Reset sets the sum to zero.
func (m *Meter) Reset() {
	if m != nil {
		m.sum = nil
	}
}
