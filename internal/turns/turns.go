// Package turns is what the coordinator of a duel and its contestants tell each other: one line of JSON a message, over two
// pipes. It knows neither rows nor statistics.
//
// A contestant is a test binary. It offers each row that its -test.bench selects, and the coordinator passes or takes it. A
// row that is taken is set up like any row, and then works only in the turns that it is given:
//
//	contestant                              coordinator
//	Offer(row)                          →
//	                                    ←   Pass | Take(index, of, warm)
//	Ready(shape) | Skip(cause) | Fail   →
//	                                    ←   Turn(length)
//	Done(ops, rate, time) | Fail        →
//	                                    ←   End
//	Ended(metrics) | Fail               →
//
// Contestants share the file. Who must evict it, in set-up or when its places of an epoch are used up, asks for that and is answered
// when all others that hold it have dropped their mappings' pages; and again when it has evicted, and all others know:
//
//	Evict(from)                         →   (Drop(from) to each other that is ready, which answers Dropped)
//	                                    ←   Go
//	Evicted                             →   (Renew to each other that is ready, which answers Renewed)
//	                                    ←   Go
//
// In the middle of a turn nobody else works, so all others are there to answer. A contestant ends when the coordinator's pipe is
// closed, in whatever way that came about.
package turns

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Version is that of the messages. A coordinator refuses contestants of another one.
const Version = 1

// A Kind says what a message is.
type Kind string

// The kinds: those of a contestant, and those of the coordinator.
const (
	Offer   Kind = "offer"   // Row, Version
	Ready   Kind = "ready"   // Shape
	Skip    Kind = "skip"    // Text: it cannot run here
	Fail    Kind = "fail"    // Text: it is over
	Done    Kind = "done"    // Result of the turn
	Ended   Kind = "ended"   // Metrics of all turns, whose evidence was judged
	Evict   Kind = "evict"   // From
	Evicted Kind = "evicted" //
	Dropped Kind = "dropped" //
	Renewed Kind = "renewed" //

	Pass  Kind = "pass"  // the row is not wanted
	Take  Kind = "take"  // Index, Of, Warm
	Turn  Kind = "turn"  // Nanos
	End   Kind = "end"   //
	Drop  Kind = "drop"  // From
	Renew Kind = "renew" //
	Go    Kind = "go"    //
)

// A Message is one of either side. The fields that its kind does not name are zero.
type Message struct {
	Kind    Kind               `json:"kind"`
	Version int                `json:"version,omitempty"`
	Row     string             `json:"row,omitempty"`   // full name of the benchmark, without -GOMAXPROCS
	Text    string             `json:"text,omitempty"`  // for people
	Index   int                `json:"index,omitempty"` // of the contestant, 0 ≤ Index < Of
	Of      int                `json:"of,omitempty"`    // contestants that share the file
	Warm    bool               `json:"warm,omitempty"`  // another contestant has made the file resident, and in the way of hot rows
	From    int64              `json:"from,omitempty"`  // bytes: what is evicted begins there
	Nanos   int64              `json:"nanos,omitempty"` // length of a turn
	Shape   *Shape             `json:"shape,omitempty"`
	Result  *Result            `json:"result,omitempty"`
	Metrics map[string]float64 `json:"metrics,omitempty"` // by unit
}

// A Shape is what must be the same for all contestants of a duel, and what people are told.
type Shape struct {
	File     string            `json:"file"`
	Size     int64             `json:"size"`      // bytes
	Slots    int64             `json:"slots"`     // places
	SlotSize int64             `json:"slot_size"` // bytes
	Threads  int               `json:"threads"`
	Case     string            `json:"case"`
	Config   map[string]string `json:"config"` // configuration lines
}

// A Result is what a contestant did in a turn.
type Result struct {
	Ops   int     `json:"ops"`
	Rate  float64 `json:"rate"`  // ops per second: the sum over workers of ops by the time in which that worker worked
	Nanos int64   `json:"nanos"` // time in which workers worked, of all workers
}

// A Conn is one end of the two pipes. It is used by one goroutine.
type Conn struct {
	in  *bufio.Reader
	out io.Writer
}

// NewConn is the end that reads from in and writes to out.
func NewConn(in io.Reader, out io.Writer) *Conn { return &Conn{bufio.NewReader(in), out} }

// The descriptors of a contestant's pipes: exec.Cmd.ExtraFiles begins with 3.
const (
	fdIn  = 3
	fdOut = 4
)

// Inherited is the contestant's end.
func Inherited() *Conn {
	return NewConn(os.NewFile(fdIn, "turns from the coordinator"), os.NewFile(fdOut, "turns to the coordinator"))
}

// ErrGone is wrapped when the other side is gone.
var ErrGone = errors.New("the other side of the duel is gone")

// Send sends a message.
func (c *Conn) Send(m Message) error {
	line, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("a message of a duel: %w", err)
	}
	if _, err := c.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}

// longest bounds a line, in bytes: what a program prints that is no contestant may have no end.
const longest = 1 << 20

// Receive waits for a message.
func (c *Conn) Receive() (m Message, err error) {
	var line []byte
	for {
		part, err := c.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > longest:
			return m, fmt.Errorf("a message of a duel has more than %d bytes: the other side is no contestant", longest)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return m, fmt.Errorf("%w: %w", ErrGone, err)
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return m, fmt.Errorf("%.80q is no message of a duel: %w", line, err)
		}
		return m, nil
	}
}

// Expect waits for a message of one of some kinds. Fail and Skip of the other side are errors, with their text, unless they are expected.
func (c *Conn) Expect(kinds ...Kind) (Message, error) {
	m, err := c.Receive()
	if err != nil {
		return m, err
	}
	for _, k := range kinds {
		if m.Kind == k {
			return m, nil
		}
	}
	if m.Kind == Fail || m.Kind == Skip {
		return m, errors.New(m.Text)
	}
	return m, fmt.Errorf("a message %q where %q was expected", m.Kind, kinds)
}
