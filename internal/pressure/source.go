package pressure

import "errors"

// A Source reads totals.
type Source struct {
	Proc   string // root of the proc file system, normally /proc
	Device string // name of the device in /proc/diskstats, or "" for none
}

// Read returns the present totals, with nil for what is missing here. It opens up to four files: it is for before
// and after an interval, not for within. An error says that something is there and could not be understood.
func (s Source) Read() (Totals, error) {
	t, _, err := s.read()
	return t, err
}

// Missing returns, for each part that Read leaves nil on this machine, an error that wraps ErrUnsupported and
// says why and what would help.
func (s Source) Missing() ([]error, error) {
	_, missing, err := s.read()
	return missing, err
}

func (s Source) read() (t Totals, missing []error, err error) {
	collect := func(partErr error) {
		switch {
		case partErr == nil:
		case errors.Is(partErr, ErrUnsupported):
			missing = append(missing, partErr)
		default:
			err = errors.Join(err, partErr)
		}
	}
	var partErr error
	t.Memory, partErr = readStall(s.Proc, "memory")
	collect(partErr)
	t.IO, partErr = readStall(s.Proc, "io")
	collect(partErr)
	t.Reclaim, partErr = readReclaim(s.Proc)
	collect(partErr)
	if s.Device != "" {
		t.Disk, partErr = readDisk(s.Proc, s.Device)
		collect(partErr)
	}
	if err != nil {
		return Totals{}, nil, err
	}
	return t, missing, nil
}
