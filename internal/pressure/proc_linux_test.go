package pressure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/testfile"
)

var (
	memory  = &Stall{Some: 132447 * time.Microsecond, Full: 60625 * time.Microsecond}
	io      = &Stall{Some: 1836107505 * time.Microsecond, Full: 1372434602 * time.Microsecond}
	reclaim = &Reclaim{Refaulted: 1234528, Scanned: 1286279 + 7, Stolen: 1286243 + 5, MachineScanned: 404 + 303, MachineStolen: 202 + 101}
	vda     = &Disk{Reads: 52295263, Bytes: 3346007444 * 512}
	loop0   = &Disk{Reads: 111487, Bytes: 4448548 * 512}
)

// tree is a recorded one: this package's own, or one of the module's.
func tree(name string) string {
	if name == "psi" || name == "nopsi" {
		return filepath.Join("../../testdata/proc", name)
	}
	return filepath.Join("testdata", name)
}

// Each number is taken from its own field, and what is not told is missing, with a cause.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		rule, tree, device string
		want               Totals
		missing            []string // each cause holds these
	}{
		{"all is told", "psi", "vda", Totals{memory, io, reclaim, vda}, nil},
		{"of another device", "psi", "loop0", Totals{memory, io, reclaim, loop0}, nil},
		{"no device is asked for", "psi", "", Totals{memory, io, reclaim, nil}, nil},
		{"PSI is off", "nopsi", "vda", Totals{nil, nil, reclaim, vda}, []string{"pressure stall information on memory", "pressure stall information on io"}},
		{"an old kernel", "old", "", Totals{memory, io, nil, nil}, []string{"workingset_refault_file; it takes Linux 5.9"}},
	} {
		s := Source{Proc: tree(c.tree), Device: c.device}
		got, err := s.Read()
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.rule, diff)
		}
		missing, err := s.Missing()
		if err != nil || len(missing) != len(c.missing) {
			t.Errorf("%s: missing is %v, %v; want %q", c.rule, missing, err, c.missing)
			continue
		}
		for i, want := range c.missing {
			if !errors.Is(missing[i], ErrUnsupported) || !strings.Contains(missing[i].Error(), want) || strings.Contains(missing[i].Error(), ErrUnsupported.Error()) {
				t.Errorf("%s: %v, want ErrUnsupported and %q", c.rule, missing[i], want)
			}
		}
	}
}

// What is there and has another form is an error, and no part of it is handed out.
func TestWrongForms(t *testing.T) {
	for _, c := range []struct{ tree, device, want string }{
		{"half", "vda", `pressure stall information on memory: testdata/half/pressure/memory lacks a line "some" or "full"`},
		{"half", "vda", "pressure stall information on io"},
		{"half", "vda", "testdata/half/vmstat: not a name and a number"},
		{"half", "vda", "reads of the device vda"},
		{"psi", "sda", "no such device in ../../testdata/proc/psi/diskstats"},
		{"none", "", "testdata/none"},
	} {
		s := Source{Proc: tree(c.tree), Device: c.device}
		got, err := s.Read()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, device %q: %v, want %q", c.tree, c.device, err, c.want)
		}
		if diff := cmp.Diff(Totals{}, got); c.tree != "none" && diff != "" {
			t.Errorf("%s: with an error there is\n%s", c.tree, diff)
		}
	}
}

// How kernels say that they do not tell: no file; a file that cannot be opened (PSI in Linux before 5.2, booted
// with psi=0); a file that is hidden (in some containers). Anything else is a failure.
func TestTold(t *testing.T) {
	for err, unsupported := range map[error]bool{
		fs.ErrNotExist:     true,
		syscall.EOPNOTSUPP: true,
		syscall.EACCES:     true,
		syscall.EPERM:      true,
		syscall.EIO:        false,
		syscall.EMFILE:     false,
	} {
		got := told("x", "do y", fmt.Errorf("open: %w", err))
		if errors.Is(got, ErrUnsupported) != unsupported || !errors.Is(got, err) || strings.Contains(got.Error(), "do y") != unsupported {
			t.Errorf("%v becomes %v", err, got)
		}
	}
}

// On this machine: totals do not fall, and each part is told or missing with a cause.
func TestHere(t *testing.T) {
	s := Source{Proc: "/proc"}
	before, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	const size = 4 << 20
	f := testfile.OnDisk(t, make([]byte, size))
	if _, err := (pagecache.Evictor{}).Evict(t.Context(), f, size); err != nil {
		t.Fatal(err)
	}
	if n, err := f.ReadAt(make([]byte, size), 0); n != size {
		t.Fatal(err)
	}
	after, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	missing, err := s.Missing()
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	if d := after.Sub(before); d.Memory != nil {
		parts++
		if d.Memory.Some < 0 || d.Memory.Full < 0 {
			t.Errorf("stalls on memory: %+v", d.Memory)
		}
	}
	if d := after.Sub(before); d.IO != nil {
		parts++
		if d.IO.Some < 0 || d.IO.Full < 0 {
			t.Errorf("stalls on io: %+v", d.IO)
		}
	}
	if d := after.Sub(before); d.Reclaim != nil {
		parts++
		if d.Reclaim.Stolen > 1<<40 || d.Reclaim.MachineScanned > 1<<40 {
			t.Errorf("totals fell: %+v", d.Reclaim)
		}
	}
	if parts+len(missing) != 3 {
		t.Errorf("%d of 3 parts are told, and missing are %v", parts, missing)
	}
}

func FuzzVmstat(f *testing.F) {
	b, err := os.ReadFile(filepath.Join(tree("psi"), "vmstat"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Add("a 1\na 2\n\nb\n")
	f.Add("pgscan_file 18446744073709551616\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := parseVmstat(text)
		if err == nil && len(table) > strings.Count(text, "\n")+1 {
			t.Errorf("%q: %v", text, table)
		}
	})
}
