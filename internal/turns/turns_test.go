package turns

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var messages = []Message{
	{Kind: Offer, Version: Version, Row: "BenchmarkPread/case=hot/threads=1"},
	{Kind: Take, Index: 1, Of: 2, Warm: true},
	{Kind: Evict, From: 1 << 40},
	{Kind: Turn, Nanos: 5e6},
	{Kind: Done, Result: &Result{Ops: 7, Rate: 1.5, Nanos: 9}},
	{Kind: Ready, Shape: &Shape{File: "/data of mine\n", Size: 1, Slots: 2, SlotSize: 3, Threads: 4, Case: "hot", Config: map[string]string{"a": "b"}}},
	{Kind: Fail, Text: "two\nlines"},
	{Kind: Ended, Metrics: map[string]float64{"dev-B/op": 1e300}},
	{Kind: Go},
}

// What is sent is received, one line a message.
func TestMessages(t *testing.T) {
	var pipe bytes.Buffer
	c := NewConn(&pipe, &pipe)
	for _, m := range messages {
		if err := c.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	if n := bytes.Count(pipe.Bytes(), []byte("\n")); n != len(messages) {
		t.Errorf("%d lines for %d messages", n, len(messages))
	}
	for _, m := range messages {
		got, err := c.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := c.Receive(); !errors.Is(err, ErrGone) || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// What is no message is an error that says so.
func TestReceive(t *testing.T) {
	for _, tc := range []struct{ name, text, err string }{
		{"result line", "BenchmarkPread 100 5 ns/op\n", `"BenchmarkPread 100 5 ns/op\n" is no message of a duel`},
		{"empty line", "\n", "is no message of a duel"},
		{"wrong type", `{"kind":7}` + "\n", "is no message of a duel"},
		{"no end of a line", `{"kind":"go"}`, "the other side of the duel is gone"},
		{"without end", strings.Repeat("x", longest+1), "more than 1048576 bytes: the other side is no contestant"},
		{"long, and ends", strings.Repeat("x", longest) + "\n", "more than 1048576 bytes"},
		{"long, but not too long", `{"kind":"go","text":"` + strings.Repeat("x", longest-100) + "\"}\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := NewConn(strings.NewReader(tc.text), nil).Receive()
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

// Fail and Skip are errors with their text, unless they are expected.
func TestExpect(t *testing.T) {
	for _, tc := range []struct {
		m     Message
		kinds []Kind
		err   string
	}{
		{Message{Kind: Done}, []Kind{Evict, Done}, ""},
		{Message{Kind: Fail, Text: "evidence"}, []Kind{Done}, "evidence"},
		{Message{Kind: Skip, Text: "cause"}, []Kind{Done}, "cause"},
		{Message{Kind: Skip, Text: "cause"}, []Kind{Ready, Skip}, ""},
		{Message{Kind: Offer}, []Kind{Done}, `a message "offer" where ["done"] was expected`},
	} {
		var pipe bytes.Buffer
		c := NewConn(&pipe, &pipe)
		if err := c.Send(tc.m); err != nil {
			t.Fatal(err)
		}
		got, err := c.Expect(tc.kinds...)
		if (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err || got.Kind != tc.m.Kind {
			t.Errorf("%v, expecting %v: %v, error %v", tc.m, tc.kinds, got, err)
		}
	}
}

// Who is gone cannot be told anything.
func TestSendToNobody(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := NewConn(r, w).Send(Message{Kind: End}); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

// Whatever comes over the pipe, it is a message or an error, and what follows a line is not lost.
func FuzzReceive(f *testing.F) {
	for _, m := range messages {
		var b bytes.Buffer
		if err := NewConn(nil, &b).Send(m); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("rubbish\n{}\n"))
	f.Add([]byte{0xff, '\n'})
	f.Add([]byte("{\"metrics\":{}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := NewConn(bytes.NewReader(text), nil)
		lines := bytes.Count(text, []byte("\n"))
		for n := 0; ; n++ {
			m, err := c.Receive()
			if errors.Is(err, ErrGone) {
				if n != lines {
					t.Errorf("%d lines received of %d", n, lines)
				}
				return
			}
			if err != nil {
				continue
			}
			var again bytes.Buffer
			if err := NewConn(nil, &again).Send(m); err != nil {
				t.Fatalf("%+v cannot be sent: %v", m, err)
			}
			got, err := NewConn(&again, nil).Receive()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(m, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("sent and received again:\n%s", diff)
			}
		}
	})
}
