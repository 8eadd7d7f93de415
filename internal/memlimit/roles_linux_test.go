package memlimit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func itoa(n int) string { return strconv.Itoa(n) }

// roles are what a process of a test does before TestMain would run tests.
var roles = map[string]func() error{
	"eat":   eat,
	"wait":  func() error { return joined(wait) },
	"panic": func() error { return joined(func() { panic("on purpose") }) },
	"exit":  func() error { return joined(func() { os.Exit(5) }) },
	"oom":   func() error { return joined(func() { eat() }) },
	"alone": func() error { return joined(killJanitor) },
	"close": func() error { return joined(nil) },
	"delegated": func() error {
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		return joined(nil)
	},
	"orphan": func() error {
		return joined(func() {
			leaveChild()
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		})
	},
	"abandoned": func() error {
		return joined(func() {
			leaveChild()
			killJanitor()
		})
	},
}

// wait waits for a signal; without a timer the runtime would call that a deadlock.
func wait() { time.Sleep(time.Hour) }

// eat takes memory until it is killed, or until it has taken so much that no limit can be at work.
func eat() error {
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil {
		return err
	}
	const much = 768 << 20
	for n := 0; n < much; n += 1 << 20 {
		p, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return err
		}
		for i := 0; i < len(p); i += os.Getpagesize() {
			p[i] = 1
		}
	}
	return errors.New("768 MiB taken, and not killed")
}

// joined joins and limits a group, prints its directory and the janitor's number, and does then. Without then it
// closes the group.
func joined(then func()) error {
	c, err := Find("/")
	if err != nil {
		return err
	}
	g, err := c.Join("test")
	if err != nil {
		return err
	}
	least, err := c.Least()
	if err != nil {
		return err
	}
	if err := g.Limit(least + 16<<20); err != nil {
		return err
	}
	fmt.Println(g.Dir(), g.janitor.(*janitor).cmd.Process.Pid)
	if then == nil {
		return g.Close()
	}
	// The group may become garbage, and with it whatever keeps the janitor waiting.
	g = nil
	for range 3 {
		runtime.GC()
	}
	fmt.Println("ready")
	then()
	return nil
}

// leaveChild starts a process that outlives this one and prints its number.
func leaveChild() {
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		panic(err)
	}
	fmt.Println(child.Process.Pid)
	// The test looks at it before this process ends.
	io.Copy(io.Discard, os.Stdin)
}

// killJanitor kills the janitor first and then this process, as the end of a container would.
func killJanitor() {
	for j := range janitors.Range {
		j.(*janitor).cmd.Process.Kill()
		j.(*janitor).cmd.Wait()
	}
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	wait()
}
