package memhog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/memlimit"
)

// hardVar is set in a process that a test starts from this same binary, to the hard limit on locked memory, in
// bytes: it takes 4 MiB as an ordinary user, of which the soft limit allows 1.
const hardVar = "MEMHOG_TEST_HARD"

func TestMain(m *testing.M) {
	if hard := os.Getenv(hardVar); hard != "" {
		if err := asUser(hard); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func asUser(hard string) error {
	var limit unix.Rlimit
	if _, err := fmt.Sscan(hard, &limit.Max); err != nil {
		return err
	}
	limit.Cur = min(limit.Max, 1<<20)
	const nobody = 65534
	for _, step := range []func() error{
		func() error { return unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit) },
		func() error { return syscall.Setgroups(nil) },
		func() error { return syscall.Setgid(nobody) },
		func() error { return syscall.Setuid(nobody) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	h, err := Take(context.Background(), 4<<20)
	if err != nil {
		if after, lockedErr := locked(); after != 0 || lockedErr != nil {
			return fmt.Errorf("%w, and %d bytes stay locked, %w", err, after, lockedErr)
		}
		if !errors.Is(err, ErrUnsupported) || strings.Contains(err.Error(), ErrUnsupported.Error()) {
			return fmt.Errorf("not marked as unsupported: %w", err)
		}
		return err
	}
	fmt.Println("took", h.Bytes())
	return h.Close()
}

const size = 64 << 20

func lockedNow(t *testing.T) int64 {
	t.Helper()
	n, err := locked()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// have is a machine of which nothing is known but what is available.
func have(t *testing.T, bytes int64) string {
	t.Helper()
	return tree(t, map[string]string{"proc/meminfo": meminfo(fmt.Sprint(bytes >> 10))})
}

// supported skips the test where memory cannot be locked, and fails it on any other error.
func supported(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What is taken is locked, and nothing of it is after closing.
func TestTake(t *testing.T) {
	for _, c := range []struct{ ask, want int64 }{{size, size}, {1, unit}, {unit + 1, 2 * unit}, {chunk + unit, chunk + unit}} {
		before := lockedNow(t)
		h, err := Take(t.Context(), c.ask)
		supported(t, err)
		if got := lockedNow(t) - before; got != c.want || h.Bytes() != c.want {
			t.Errorf("asked for %d: %d locked, %d by its own word, want %d", c.ask, got, h.Bytes(), c.want)
		}
		if left, err := h.Left(); err != nil || left < Floor {
			t.Errorf("left %d, %v", left, err)
		}
		for range 2 {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
		if got := lockedNow(t); got != before || h.Bytes() != 0 {
			t.Errorf("closed, and %d stay locked, %d by its own word", got-before, h.Bytes())
		}
	}
}

// So much is taken that the rest stays available.
func TestLeave(t *testing.T) {
	for _, c := range []struct{ available, leave, want int64 }{
		{Floor + size, Floor, size},
		{1<<30 + 100<<20 + 12345, 1 << 30, 100 << 20},
		{1<<30 + unit, 1 << 30, unit},
	} {
		before := lockedNow(t)
		h, err := leave(t.Context(), have(t, c.available), c.leave)
		supported(t, err)
		if got := lockedNow(t) - before; got != c.want || h.Bytes() != c.want {
			t.Errorf("%+v: %d locked, %d by its own word", c, got, h.Bytes())
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What would leave too little is refused, with what would work.
func TestFloor(t *testing.T) {
	for _, c := range []struct {
		rule string
		f    func() (*Hog, error)
		want string
	}{
		{"more than there is", func() (*Hog, error) { return take(t.Context(), have(t, Floor+size), 1<<40) }, "at most 67108864 can be taken"},
		{"a little too much", func() (*Hog, error) { return take(t.Context(), have(t, Floor+size), size+1) }, "at most 67108864 can be taken"},
		{"nothing to take", func() (*Hog, error) { return take(t.Context(), have(t, Floor), 1) }, "nothing can be taken"},
		{"below the floor already", func() (*Hog, error) { return take(t.Context(), have(t, Floor/2), 1) }, "nothing can be taken"},
		{"leaving less than the floor", func() (*Hog, error) { return leave(t.Context(), have(t, 8<<30), Floor-1) }, "at least 536870912 must stay"},
		{"leaving more than there is", func() (*Hog, error) { return leave(t.Context(), have(t, 1<<30), 1<<30) }, "no more than 1073741824 are available"},
	} {
		before := lockedNow(t)
		h, err := c.f()
		if h != nil || !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want ErrUnsupported and %q", c.rule, err, c.want)
		}
		if got := lockedNow(t); got != before {
			t.Errorf("%s: %d bytes stay locked", c.rule, got-before)
		}
	}
	for _, n := range []int64{0, -1} {
		if h, err := Take(t.Context(), n); err == nil {
			t.Errorf("took %d: %d", n, h.Bytes())
		}
	}
}

// The group's limit is in the way, too: in a group of a limit below the floor nothing can be taken.
func TestFloorOfAGroup(t *testing.T) {
	c, err := memlimit.Find("/")
	if err != nil {
		t.Skip(err)
	}
	g, err := c.Join("test")
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := g.Limit(Floor - 1<<20); err != nil {
		t.Fatal(err)
	}
	if h, err := Take(t.Context(), 1); h != nil || !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "nothing can be taken") {
		t.Errorf("%v, %v", h, err)
	}
}

// When others take theirs meanwhile, or ctx ends, what was taken is given back.
func TestGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	others := &floorError{"x", 1}
	for _, c := range []struct {
		rule string
		at   func() error // when one chunk is taken
		want error
	}{
		{"others take theirs", func() error { return others }, others},
		{"ctx ends", func() error { cancel(); return nil }, context.Canceled},
	} {
		before, most := lockedNow(t), int64(0)
		h, err := fill(ctx, "/", 1<<30, func(taken int64) (int64, error) {
			most = max(most, lockedNow(t)-before)
			if taken == 0 {
				return size, nil
			}
			return size, c.at()
		})
		if most == 0 {
			supported(t, err)
		}
		if h != nil || !errors.Is(err, c.want) || most != size {
			t.Errorf("%s: %v after %d bytes", c.rule, err, most)
		}
		if got := lockedNow(t); got != before {
			t.Errorf("%s: %d bytes stay locked", c.rule, got-before)
		}
	}
}

// The limit on locked memory is raised as far as an ordinary user may, and named where that is too little.
func TestRlimit(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user: run this test as root")
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil || limit.Max < 8<<20 {
		t.Skipf("the hard limit on locked memory is %d, %v: 8 MiB are needed", limit.Max, err)
	}
	for _, c := range []struct {
		hard  int64
		state string
		want  []string
	}{
		{8 << 20, "exit status 0", []string{"took 4194304"}},
		{2 << 20, "exit status 3", []string{"need 4194304 bytes, soft limit 2097152, hard limit 2097152", "ulimit -l 4096"}},
		{0, "exit status 3", []string{"need 4194304 bytes, soft limit 0, hard limit 0"}},
	} {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), hardVar+"="+fmt.Sprint(c.hard))
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.String(); got != c.state {
			t.Errorf("hard limit %d: %s, want %s; %s", c.hard, got, c.state, out)
		}
		for _, want := range c.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("hard limit %d: %q lacks %q", c.hard, out, want)
			}
		}
	}
}
