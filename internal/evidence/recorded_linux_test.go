package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A proc is a directory that looks like a proc file system, as far as Source reads it.
type proc string

func newProc(t *testing.T) proc {
	t.Helper()
	p := proc(t.TempDir())
	if err := os.Mkdir(p.self(), 0o755); err != nil {
		t.Fatal(err)
	}
	p.setIO(t, 0, 0)
	return p
}

func (p proc) self() string { return filepath.Join(string(p), strconv.Itoa(os.Getpid())) }

func (p proc) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// setIO sets this process's counters; those that are not asked for are large.
func (p proc) setIO(t *testing.T, readBytes, calls uint64) {
	t.Helper()
	p.write(t, filepath.Join(p.self(), "io"), fmt.Sprintf("rchar: 1000001\nwchar: 1000002\nsyscr: %d\nsyscw: 1000003\n"+
		"read_bytes: %d\nwrite_bytes: 1000004\ncancelled_write_bytes: 1000005\n", calls, readBytes))
}

// setDisk sets the weighted time of the device vda, in ms. vda1 and vdb have others.
func (p proc) setDisk(t *testing.T, weighted int) {
	t.Helper()
	p.write(t, filepath.Join(string(p), "diskstats"), fmt.Sprintf(
		` 254       1 vda1 11 12 13 14 15 16 17 18 19 20 999999 22 23 24 25 26 27
 254       0 vda 653373 10577 46808674 565562 97197 32764 131655112 995668 0 88700 %d 7576 60 126286792 16852 1043 56
 254      16 vdb 11 12 13 14 15 16 17 18 19 20 888888 22 23 24 25 26 27
`, weighted))
}

// kernelOwn leaves of the counters what comes from /proc, and so can be set by a test.
func kernelOwn(c Counters) Counters {
	return Counters{DeviceBytes: c.DeviceBytes, ReadSyscalls: c.ReadSyscalls, Disk: c.Disk}
}

// Each counter is taken from its own field, of its own device.
func TestReadTakesTheRightFields(t *testing.T) {
	p := newProc(t)
	p.setIO(t, 4096, 17)
	p.setDisk(t, 1578139)
	for device, want := range map[string]Counters{
		"vda":  {DeviceBytes: 4096, ReadSyscalls: 17, Disk: Disk{1578139 * time.Millisecond}},
		"vda1": {DeviceBytes: 4096, ReadSyscalls: 17, Disk: Disk{999999 * time.Millisecond}},
		"":     {DeviceBytes: 4096, ReadSyscalls: 17},
	} {
		got, err := Source{Proc: string(p), Device: device}.Read()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, kernelOwn(got)); diff != "" {
			t.Errorf("device %q (-want +got):\n%s", device, diff)
		}
	}
}

// The sum is over the intervals from Start to Stop, and over nothing else.
func TestMeterSumsItsIntervals(t *testing.T) {
	p := newProc(t)
	m := NewMeter(Source{Proc: string(p), Device: "vda"})
	step := func(bytes, calls uint64, weighted int) {
		t.Helper()
		p.setIO(t, bytes, calls)
		p.setDisk(t, weighted)
	}
	do := func(f func() error) {
		t.Helper()
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	require := func(rule string, intervals int, bytes, calls uint64, weighted time.Duration) {
		t.Helper()
		want := Counters{DeviceBytes: bytes, ReadSyscalls: calls, Disk: Disk{weighted * time.Millisecond}}
		if diff := cmp.Diff(want, kernelOwn(m.Sum())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rule, diff)
		}
		if got := m.Intervals(); got != intervals {
			t.Errorf("%s: %d intervals, want %d", rule, got, intervals)
		}
	}
	require("a new meter is at zero", 0, 0, 0, 0)
	step(1000, 10, 5)
	do(m.Start)
	step(1500, 13, 7)
	require("an interval under way does not count yet", 0, 0, 0, 0)
	do(m.Stop)
	require("what was before Start does not count", 1, 500, 3, 2)
	step(9000, 90, 70)
	do(m.Start)
	step(9100, 91, 71)
	do(m.Stop)
	require("what is between Stop and Start does not count", 2, 600, 4, 3)
	do(m.Start)
	do(m.Stop)
	require("an empty interval adds nothing", 3, 600, 4, 3)
	m.Reset()
	require("after Reset it is at zero", 0, 0, 0, 0)
	step(10_000, 100, 80)
	do(m.Start)
	step(10_001, 102, 83)
	do(m.Stop)
	require("and sums again", 1, 1, 2, 3)
}

// What cannot be counted is an error that names what is missing: a counter that stood at zero would be taken
// for evidence.
func TestReadNamesWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		rule   string
		change func(t *testing.T, p proc)
		device string
		want   []string
		is     error
	}{
		{"a kernel that does not account input and output", func(t *testing.T, p proc) {
			if err := os.Remove(filepath.Join(p.self(), "io")); err != nil {
				t.Fatal(err)
			}
		}, "", []string{"device bytes of this process", "/io", "CONFIG_TASK_IO_ACCOUNTING"}, fs.ErrNotExist},
		{"an io file of another form", func(t *testing.T, p proc) {
			p.write(t, filepath.Join(p.self(), "io"), "rchar: many\n")
		}, "", []string{"device bytes of this process"}, nil},
		{"no such process", func(t *testing.T, p proc) {
			if err := os.RemoveAll(p.self()); err != nil {
				t.Fatal(err)
			}
		}, "", []string{"counters of this process"}, fs.ErrNotExist},
		{"a device that is not in the list", func(t *testing.T, p proc) { p.setDisk(t, 1) }, "nvme0n1", []string{`no device "nvme0n1"`, "diskstats"}, nil},
		{"a name that only begins like one in the list", func(t *testing.T, p proc) { p.setDisk(t, 1) }, "vd", []string{`no device "vd"`}, nil},
		{"no disk statistics", func(*testing.T, proc) {}, "vda", []string{"disk statistics"}, fs.ErrNotExist},
	} {
		t.Run(c.rule, func(t *testing.T) {
			p := newProc(t)
			c.change(t, p)
			_, err := Source{Proc: string(p), Device: c.device}.Read()
			requireError(t, "Read", err, c.want, c.is)
			m := NewMeter(Source{Proc: string(p), Device: c.device})
			requireError(t, "Start", m.Start(), c.want, c.is)
			requireError(t, "Stop", m.Stop(), c.want, c.is)
			if m.Intervals() != 0 || m.Sum() != (Counters{}) {
				t.Errorf("a meter that could not be read has a sum: %+v", m.Sum())
			}
		})
	}
	if _, err := (Source{Proc: filepath.Join(t.TempDir(), "missing")}).Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no proc file system at all: %v", err)
	}
}

func requireError(t *testing.T, what string, err error, parts []string, is error) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v does not say %q", what, err, part)
		}
	}
	if is != nil && !errors.Is(err, is) {
		t.Errorf("%s: error %v does not wrap %v", what, err, is)
	}
}

// The weighted time of a device is taken from its own field of a recorded machine's statistics.
func TestRecordedDisk(t *testing.T) {
	for _, tree := range []string{"psi", "nopsi"} {
		p := newProc(t)
		recorded, err := os.ReadFile(filepath.Join("../../testdata/proc", tree, "diskstats"))
		if err != nil {
			t.Fatal(err)
		}
		p.write(t, filepath.Join(string(p), "diskstats"), string(recorded))
		for device, want := range map[string]time.Duration{"vda": 46375333 * time.Millisecond, "loop0": 5548 * time.Millisecond} {
			got, err := Source{Proc: string(p), Device: device}.Read()
			if err != nil || got.Disk.Weighted != want {
				t.Errorf("%s of %s: %v, %v; want %v", device, tree, got.Disk.Weighted, err, want)
			}
		}
	}
}
