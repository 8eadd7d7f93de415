package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write puts texts into files of these names, and returns their paths in the order of the names.
func write(t *testing.T, texts map[string]string, names ...string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name+".txt")
		if text, ok := texts[name]; ok {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		paths = append(paths, path)
	}
	return paths
}

var texts = map[string]string{
	// Round 2 was a bad one for everybody; B was skipped in it.
	"ours": "round: 1\nBenchmarkA 10 200 MB/s 30 cpu-ns/op\nBenchmarkB 10 900 MB/s\n" +
		"round: 2\nBenchmarkA 10 100 MB/s 40 cpu-ns/op\n" +
		"round: 3\nBenchmarkA 10 300 MB/s 50 cpu-ns/op\nBenchmarkB 10 700 MB/s\n",
	"fio": "Unit cpu-ns/op better=lower\nround: 1\nBenchmarkA 10 100 MB/s 60 cpu-ns/op\nBenchmarkB 10 1000 MB/s\n" +
		"round: 2\nBenchmarkA 10 100 MB/s 40 cpu-ns/op\nBenchmarkB 10 400 MB/s\n" +
		"round: 3\nBenchmarkA 10 100 MB/s 25 cpu-ns/op\nBenchmarkB 10 700 MB/s\n",
	"huge":  "round: 3\nBenchmarkA 10 600 MB/s\nBenchmarkC 10 750 MB/s\n",
	"other": "round: 9\nBenchmarkA 10 600 MB/s\n",
	"twice": "round: 1\nBenchmarkA 10 600 MB/s\nBenchmarkA 10 600 MB/s\n",
	"zero":  "round: 1\nBenchmarkA 10 0 MB/s\n",
	"none":  "BenchmarkA 10 600 MB/s\n",
	"wrong": "round: 1\nBenchmarkA 10 600\n",
	"empty": "",
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   string // before the files
		files  string
		code   int
		stdout []string // lines without the first, with single spaces; of the right number
		stderr string   // a part of it
	}{
		{"every row", "", "ours fio", 0, []string{
			"A fio 2e+08 1e+08 2.000 2.000 1.000 3.000 3",
			"B fio 8e+08 7e+08 1.143 0.950 0.900 1.000 2",
		}, ""},
		{"several files", "", "ours fio huge", 0, []string{
			"A fio 2e+08 1e+08 2.000 2.000 1.000 3.000 3",
			"A huge 2e+08 6e+08 0.333 0.500 0.500 0.500 1",
			"B fio 8e+08 7e+08 1.143 0.950 0.900 1.000 2",
		}, ""},
		{"another unit", "-unit cpu-sec/op", "ours fio", 0, []string{"A fio 4e-08 4e-08 1.000 1.000 0.500 2.000 3"}, ""},
		{"best", "-best", "ours fio", 0, []string{"B fio 8e+08 7e+08 1.143 0.950 0.900 1.000 2"}, ""},
		{"best of several files", "-best", "ours fio huge", 0, []string{"B huge C 8e+08 7.5e+08 1.067 0.933 0.933 0.933 1"}, ""},
		{"no round in common", "", "ours other", 1, nil, "in common"},
		{"best, no round in common", "-best", "ours other", 1, nil, "in common"},
		{"no such unit", "-unit furlongs", "ours fio", 1, nil, "furlongs"},
		{"twice in a round", "", "ours twice", 1, nil, "twice.txt:3: A was measured twice in round 1"},
		{"zero", "-unit MB/s", "zero zero", 1, nil, "zero.txt:2"},
		{"no round", "", "none ours", 1, nil, `none.txt:1: no line "round: NAME"`},
		{"no result", "", "ours wrong", 1, nil, "wrong.txt"},
		{"empty", "", "ours empty", 1, nil, "empty.txt: no row"},
		{"no such file", "", "ours missing", 1, nil, "missing.txt"},
		{"help", "-h", "", 0, nil, "usage:"},
		{"one file", "", "ours", 2, nil, "usage:"},
		{"bad flag", "-x", "ours fio", 2, nil, "usage:"},
		{"top of two files", "-top 1", "ours fio", 2, nil, "one file"},
		{"top and best", "-top 1 -best", "ours", 2, nil, "one file"},
		{"negative top", "-top -1", "ours", 2, nil, "from 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append(strings.Fields(c.args), write(t, texts, strings.Fields(c.files)...)...)
			var stdout, stderr bytes.Buffer
			if code := run(args, &stdout, &stderr); code != c.code {
				t.Errorf("exit status %d, want %d: %s", code, c.code, &stderr)
			}
			var got []string
			for line := range strings.Lines(stdout.String()) {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			if len(got) > 0 {
				got = got[1:]
			}
			if strings.Join(got, "\n") != strings.Join(c.stdout, "\n") {
				t.Errorf("%q, want %q", got, c.stdout)
			}
			if !strings.Contains(stderr.String(), c.stderr) || c.stderr == "" && stderr.Len() > 0 {
				t.Errorf("standard error %q, want %q", &stderr, c.stderr)
			}
		})
	}
}

func TestTop(t *testing.T) {
	for n, want := range map[string]string{"1": "B\n", "2": "B\nA\n", "9": "B\nA\n"} {
		var stdout, stderr bytes.Buffer
		if code := run(append([]string{"-top", n}, write(t, texts, "fio")...), &stdout, &stderr); code != 0 || stdout.String() != want {
			t.Errorf("-top %s: %d, %q, %q; want %q", n, code, &stdout, &stderr, want)
		}
	}
}
