package duel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/readbench/suite/internal/turns"
)

// grace is how long a contestant may take to end when its pipe is closed: a variable for tests.
var grace = 5 * time.Second

// aftermath is how long what a contestant has started, and lets live, may hold its output open: it removes a memory-limited group.
const aftermath = 12 * time.Second

// A process is that of a contestant. It is used by one goroutine.
type process struct {
	ctx      context.Context
	cmd      *exec.Cmd
	conn     *turns.Conn
	commands *os.File
	answers  *os.File
	output   tail
	ended    chan struct{} // closed when it has
	err      error         // of its end
}

// start starts a spec's binary with the rows that bench selects. The caller stops it.
func start(ctx context.Context, s Spec, bench string) (*process, error) {
	in, commands, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	answers, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, commands.Close())
	}
	defer out.Close()
	p := &process{ctx: ctx, conn: turns.NewConn(answers, commands), commands: commands, answers: answers, ended: make(chan struct{})}
	p.cmd = exec.Command(s.Binary, "-test.run=^$", "-test.bench="+bench, "-test.benchtime=1x")
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = s.Dir, &p.output, &p.output
	p.cmd.Env = s.Env
	if s.Env == nil {
		p.cmd.Env = os.Environ()
	}
	if s.Vary != "" {
		p.cmd.Env = append(p.cmd.Env, s.Vary)
	}
	p.cmd.Env = append(p.cmd.Env, "READBENCH_TURNS=1", "READBENCH_SHARE=share")
	p.cmd.ExtraFiles = []*os.File{in, out} // descriptors 3 and 4
	p.cmd.SysProcAttr = groupOfItsOwn()
	p.cmd.WaitDelay = aftermath
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", s.Name, err), commands.Close(), answers.Close())
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// send sends a message. That the contestant is gone shows in receive.
func (p *process) send(m turns.Message) error {
	err := p.conn.Send(m)
	if errors.Is(err, turns.ErrGone) {
		return nil
	}
	return err
}

// receive waits for a message of one of some kinds, at most so long. Otherwise the contestant is of no use any more, and the error says why in words.
func (p *process) receive(limit time.Duration, kinds ...turns.Kind) (turns.Message, error) {
	if err := p.answers.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return turns.Message{}, err
	}
	defer context.AfterFunc(p.ctx, func() { p.answers.SetReadDeadline(time.Unix(1, 0)) })()
	m, err := p.conn.Expect(kinds...)
	switch {
	case err == nil:
		return m, nil
	case p.ctx.Err() != nil:
		return m, p.ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.kill()
		return m, fmt.Errorf("it hangs: no message %q within %s; it was killed%s", kinds, limit, p.said())
	case errors.Is(err, io.EOF):
		return m, &endedError{p.end(), p.said()}
	case m.Kind == turns.Fail || m.Kind == turns.Skip:
		return m, err
	}
	p.kill()
	return m, fmt.Errorf("it does not keep to the protocol of a duel: %w; it was killed%s", err, p.said())
}

// An endedError is that of a contestant that has ended where it should not.
type endedError struct {
	status error // nil: 0
	said   string
}

func (e *endedError) Error() string {
	status := "exit status 0"
	if e.status != nil {
		status = e.status.Error()
	}
	return fmt.Sprintf("it ended in the middle of the duel (%s)%s", status, e.said)
}

// end waits for the end of the process, and kills it if that takes too long.
func (p *process) end() error {
	select {
	case <-p.ended:
	case <-time.After(grace):
		p.kill()
		<-p.ended
	}
	if errors.Is(p.err, exec.ErrWaitDelay) {
		return nil // its own status is 0
	}
	return p.err
}

// stop ends the process and what it has started. It may be called twice.
func (p *process) stop() {
	p.commands.Close() // tells it to end
	p.end()
	p.kill()
	p.answers.Close()
}

// kill kills the process group. The number of a group is not given anew while a process is in it.
func (p *process) kill() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// said is the end of what it printed, for an error.
func (p *process) said() string {
	if text := p.output.String(); text != "" {
		return "; its output ends with:\n\t" + strings.ReplaceAll(text, "\n", "\n\t")
	}
	return ""
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const (
	tailBytes = 64 << 10
	tailLines = 8
)

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(p), nil
}

// String is the last lines, or the first ones of a panic.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.Join(lines[i:min(i+tailLines, len(lines))], "\n")
		}
	}
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
