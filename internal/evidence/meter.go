package evidence

// A Meter sums counters over intervals. It is not safe for concurrent use.
type Meter struct {
	source    Source
	at, sum   Counters
	intervals int
}

// NewMeter returns a stopped meter at zero.
func NewMeter(s Source) *Meter { return &Meter{source: s} }

// Start begins an interval.
func (m *Meter) Start() (err error) {
	m.at, err = m.source.Read()
	return err
}

// Stop ends the interval that Start began and adds it to the sum.
func (m *Meter) Stop() error {
	now, err := m.source.Read()
	if err != nil {
		return err
	}
	m.sum = m.sum.Add(now.Sub(m.at))
	m.at = now
	m.intervals++
	return nil
}

// Sum returns the counters over all intervals so far.
func (m *Meter) Sum() Counters { return m.sum }

// Intervals is how many intervals the sum is over.
func (m *Meter) Intervals() int { return m.intervals }

// Reset sets the sum to zero.
func (m *Meter) Reset() { m.sum, m.intervals = Counters{}, 0 }
