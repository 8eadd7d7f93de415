package notice

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/perf/benchfmt"
)

const roleEnv = "NOTICE_TEST_ROLE"

// roles are what this test binary does when a test starts it again, with standard output and error of the
// test's choice.
var roles = map[string]func(){
	"hold": func() { // as the testing package and a benchmark do it
		Printf("before")
		fmt.Print("BenchmarkX-2 \t")
		Hold()
		Printf("one")
		Printf("two")
		fmt.Print("1\t5 ns/op\n")
		Release()
		Printf("after")
	},
	"never released": func() {
		Hold()
		Printf("one")
		fmt.Println("BenchmarkX-2 1 5 ns/op")
	},
	"held twice": func() {
		Hold()
		Printf("one")
		Hold()
		Printf("two")
		fmt.Println("BenchmarkX-2 1 5 ns/op")
		Release()
		Release()
	},
}

func TestMain(m *testing.M) {
	if role, ok := roles[os.Getenv(roleEnv)]; ok {
		role()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// captured is what f prints on standard error.
func captured(t *testing.T, f func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stderr := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = stderr }()
	f()
	got, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// Every line begins with the prefix, whatever is in it: arguments such as joined errors have several lines.
func TestPrintfPrefixesEveryLine(t *testing.T) {
	for _, c := range []struct {
		rule string
		args []any
		want string
	}{
		{"a line", []any{"evicting"}, "# readbench: evicting\n"},
		{"nothing", []any{""}, "# readbench: \n"},
		{"two errors joined", []any{errors.Join(errors.New("goos: one"), errors.New("BenchmarkX 1 5 ns/op"))},
			"# readbench: goos: one\n# readbench: BenchmarkX 1 5 ns/op\n"},
		{"a line with its end", []any{"evicting\n"}, "# readbench: evicting\n"},
	} {
		if got := captured(t, func() { Printf("%v", c.args...) }); got != c.want {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
}

// Between the lines of a benchmark's output, notices are nothing to the parser that benchstat has, whatever they say.
func TestNoticesAreNoBenchmarkFormat(t *testing.T) {
	notices := captured(t, func() {
		for _, text := range []string{
			"making the data file /data/file, 1 GiB", "goos: plan9", "key: value", "BenchmarkX-2 1 5 ns/op", "Unit ns/op better=higher",
			"several\ngoos: plan9\nBenchmarkY-2 1 5 ns/op\nUnit ns/op better=higher", "", "ok  \tpackage\t1s",
		} {
			Printf("%s", text)
		}
	})
	parsed := func(text string) (all []string) {
		r := benchfmt.NewReader(strings.NewReader(text), "test")
		for r.Scan() {
			switch rec := r.Result().(type) {
			case *benchfmt.Result:
				all = append(all, fmt.Sprint("result ", rec.Name, rec.Config, rec.Values))
			case *benchfmt.UnitMetadata:
				all = append(all, fmt.Sprint("unit ", rec.UnitMetadataKey, rec.Value))
			default:
				all = append(all, fmt.Sprintf("%T %v", rec, rec))
			}
		}
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		return all
	}
	const config, result = "goos: linux\nUnit ns/op better=lower\n", "BenchmarkX-2 \t1\t5 ns/op\n"
	want := parsed(config + result)
	if len(want) != 2 {
		t.Fatalf("the parser finds %q without notices", want)
	}
	if got := parsed(notices + config + notices + result + notices); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("with notices:\n%q\nwithout:\n%q", got, want)
	}
}

// From several goroutines at once, lines stay whole.
func TestPrintfConcurrently(t *testing.T) {
	const goroutines, lines = 8, 50
	got := captured(t, func() {
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				for range lines {
					Printf("a line of %d words", 5)
				}
			})
		}
		wg.Wait()
	})
	if want := strings.Repeat("# readbench: a line of 5 words\n", goroutines*lines); got != want {
		t.Error("lines are lost or mixed")
	}
}

// setPatience is for tests that do not want to wait for people's patience.
func setPatience(t *testing.T, d time.Duration) {
	before := patience
	patience = d
	t.Cleanup(func() { patience = before })
}

// What is done before anybody is impatient is not worth a line.
func TestSlowSaysNothingOfWhatIsQuick(t *testing.T) {
	setPatience(t, time.Hour)
	if got := captured(t, func() { Slow("evicting %s", "data")() }); got != "" {
		t.Errorf("%q", got)
	}
}

// What takes long is said again and again, and no more once it is stopped, not even by a line that was under way.
func TestSlowSaysWhatIsGoingOn(t *testing.T) {
	setPatience(t, time.Nanosecond)
	for range 100 {
		var atStop string
		got := captured(t, func() {
			stop := Slow("evicting %s", "data")
			for strings.Count(read(t, os.Stderr), "\n") < 2 {
				time.Sleep(time.Microsecond)
			}
			stop()
			atStop = read(t, os.Stderr)
			time.Sleep(time.Millisecond)
		})
		if got != atStop {
			t.Fatalf("after stop it says %q", strings.TrimPrefix(got, atStop))
		}
		for line := range strings.Lines(got) {
			if line != "# readbench: still evicting data (0 s so far)\n" {
				t.Fatalf("it says %q", line)
			}
		}
	}
}

func read(t *testing.T, f *os.File) string {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// While standard output holds half a result line, a notice would end up within it if both are one file. Then it
// waits, in order. If they are two, nothing waits.
func TestHold(t *testing.T) {
	for _, c := range []struct {
		role                     string
		together, stdout, stderr string
	}{
		{"hold",
			"# readbench: before\nBenchmarkX-2 \t1\t5 ns/op\n# readbench: one\n# readbench: two\n# readbench: after\n",
			"BenchmarkX-2 \t1\t5 ns/op\n",
			"# readbench: before\n# readbench: one\n# readbench: two\n# readbench: after\n"},
		{"never released",
			"BenchmarkX-2 1 5 ns/op\n",
			"BenchmarkX-2 1 5 ns/op\n",
			"# readbench: one\n"},
		{"held twice",
			"BenchmarkX-2 1 5 ns/op\n# readbench: one\n# readbench: two\n",
			"BenchmarkX-2 1 5 ns/op\n",
			"# readbench: one\n# readbench: two\n"},
	} {
		t.Run(c.role+"/one pipe", func(t *testing.T) {
			cmd := child(t, c.role)
			var both bytes.Buffer
			cmd.Stdout, cmd.Stderr = &both, &both
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			requireOutput(t, "both", both.String(), c.together)
		})
		t.Run(c.role+"/one file", func(t *testing.T) {
			cmd := child(t, c.role)
			f, err := os.Create(filepath.Join(t.TempDir(), "output"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cmd.Stdout, cmd.Stderr = f, f
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(f.Name())
			if err != nil {
				t.Fatal(err)
			}
			requireOutput(t, "both", string(got), c.together)
		})
		t.Run(c.role+"/two pipes", func(t *testing.T) {
			cmd := child(t, c.role)
			var out, err bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &err
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			requireOutput(t, "standard output", out.String(), c.stdout)
			requireOutput(t, "standard error", err.String(), c.stderr)
		})
	}
}

func child(t *testing.T, role string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	return cmd
}

func requireOutput(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}
