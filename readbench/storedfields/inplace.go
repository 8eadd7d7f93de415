package storedfields

import (
	"errors"
	"fmt"
	"io"

	"github.com/readbench/suite/readbench/strategy"
)

// InPlace is a strategy that maps the file, but for copying: its reads hand out the mapping itself, and what uses the bytes
// takes them from there. That is how the library decompresses, and spares a copy of what is copied once more anyway.
// Everything else, names and labels too, is that of the strategy.
//
// Opened by a strategy that does not map (that has no Bytes), it is an error.
func InPlace(s strategy.Strategy) strategy.Strategy {
	if l, ok := s.(strategy.Labeler); ok {
		return labelledInPlace{inPlace{s}, l}
	}
	return inPlace{s}
}

type inPlace struct{ strategy.Strategy }

type labelledInPlace struct {
	inPlace
	strategy.Labeler
}

// mapped is what strategies that map open.
type mapped interface {
	strategy.Opened
	strategy.Mapper
	Bytes() []byte
}

func (s inPlace) Open(f *strategy.File, setup strategy.Setup) (strategy.Opened, error) {
	o, err := s.Strategy.Open(f, setup)
	if err != nil {
		return nil, err
	}
	m, ok := o.(mapped)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s: it has no mapping to read in place", s.Name()), o.Close())
	}
	return inPlaceOpened{m}, nil
}

type inPlaceOpened struct{ mapped }

func (o inPlaceOpened) Reader(worker int) (strategy.Reader, error) {
	base, err := o.mapped.Reader(worker)
	if err != nil {
		return nil, err
	}
	r := &viewReader{base: base, data: o.Bytes()}
	r.counter, _ = base.(strategy.Counter)
	r.forget, _ = base.(strategy.Forgetter)
	if p, ok := base.(strategy.Prefetcher); ok {
		return &viewPrefetchReader{r, p}, nil
	}
	return r, nil
}

// viewReader reads from the mapping; all else that base can do, it does.
type viewReader struct {
	base    strategy.Reader
	counter strategy.Counter   // nil if base is none
	forget  strategy.Forgetter // nil if base is none
	data    []byte
}

// Read returns a part of the mapping.
func (r *viewReader) Read(rg strategy.Range) ([]byte, error) {
	return r.data[rg.Off : rg.Off+int64(rg.N) : rg.Off+int64(rg.N)], nil
}

func (r *viewReader) Counts() strategy.Counts {
	if r.counter == nil {
		return strategy.Counts{}
	}
	return r.counter.Counts()
}

func (r *viewReader) Forget() {
	if r.forget != nil {
		r.forget.Forget()
	}
}

func (r *viewReader) Close() error {
	if c, ok := r.base.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

type viewPrefetchReader struct {
	*viewReader
	strategy.Prefetcher
}
