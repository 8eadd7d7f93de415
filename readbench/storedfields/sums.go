package storedfields

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/userfile"
	"github.com/readbench/suite/readbench/storedfields/lucene"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the checksum of a document, CRC-32C: processors have an instruction for it.
func sum(doc []byte) uint32 { return crc32.Checksum(doc, castagnoli) }

// The file of checksums is one line that says of what, then 4 bytes a document, and the checksum of all of that. Numbers
// are little-endian.

// writeSums writes the file of checksums, and waits until it is on the device.
func writeSums(path, title string, sums []uint32) error {
	p := append([]byte(title), '\n')
	for _, s := range append(sums[:len(sums):len(sums)], 0) {
		p = binary.LittleEndian.AppendUint32(p, s)
	}
	body := p[:len(p)-4]
	binary.LittleEndian.PutUint32(p[len(body):], sum(body))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(p)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// readSums reads the checksums of n documents if the file has the title.
func readSums(path, title string, n int64) ([]uint32, error) {
	f, err := userfile.Open(context.Background(), path, userfile.Regular)
	if err != nil {
		return nil, err
	}
	p, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	line, body, _ := bytes.Cut(p, []byte{'\n'})
	if string(line) != title {
		return nil, fmt.Errorf("%s: it has checksums of %.200q, not of %q", path, line, title)
	}
	if int64(len(body)) != 4*n+4 {
		return nil, fmt.Errorf("%s: %d bytes of checksums, expected 4 for each of %d documents and 4", path, len(body), n)
	}
	if got, want := sum(p[:len(p)-4]), binary.LittleEndian.Uint32(p[len(p)-4:]); got != want {
		return nil, fmt.Errorf("%s: it has the checksum %08x, and says %08x: it is damaged", path, got, want)
	}
	sums := make([]uint32, n)
	for i := range sums {
		sums[i] = binary.LittleEndian.Uint32(body[4*i:])
	}
	return sums, nil
}

// takeSums reads all documents and returns their checksums.
func takeSums(ctx context.Context, c *Corpus) ([]uint32, error) {
	defer notice.Slow("reading all documents of %s for their checksums", c.Index.Dir)()
	sums := make([]uint32, c.Index.Docs)
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var t sumTaker
			for i := range c.segments {
				if errs[w] = t.segment(ctx, &c.segments[i], w, workers, sums); errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return sums, errors.Join(errs...)
}

// sumTaker takes the checksums of one worker.
type sumTaker struct {
	d     lucene.Decoder
	chunk []byte
}

// segment takes those of every step-th chunk of a segment from the first on.
func (t *sumTaker) segment(ctx context.Context, s *segment, first, step int, sums []uint32) error {
	f, err := userfile.Open(ctx, s.DataFile, userfile.Regular)
	if err != nil {
		return err
	}
	defer f.Close()
	for i := first; i < s.Chunks(); i += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := s.ChunkAt(i)
		if int64(cap(t.chunk)) < k.Length {
			t.chunk = make([]byte, k.Length)
		}
		t.chunk = t.chunk[:k.Length]
		if _, err := f.ReadAt(t.chunk, k.Offset); err != nil {
			return fmt.Errorf("%s: reading chunk %d: %w", s.DataFile, i, err)
		}
		for doc := k.DocBase; doc < k.DocBase+k.Docs; doc++ {
			if err := t.d.Start(s.Segment, doc); err != nil {
				return err
			}
			if _, n := t.d.Want(); n > 0 {
				if err := t.d.Feed(k.Offset, t.chunk); err != nil {
					return err
				}
			}
			p, _ := t.d.Document()
			sums[s.DocBase+int64(doc)] = sum(p)
		}
	}
	return nil
}
