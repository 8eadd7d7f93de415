// Package config is everything that can be set: the READBENCH_* environment variables, parsed once into a Config. It knows
// names, forms and limits of values, not what is done with them.
package config

import (
	"cmp"
	"context"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/readbench/suite/internal/datafile"
)

// EnvPrefix starts the name of every environment variable that readbench reads.
const EnvPrefix = "READBENCH_"

// Config is everything that can be set, read once from READBENCH_* environment variables. It is read-only
// afterwards and safe for concurrent use.
type Config struct {
	File         string        `env:"FILE" doc:"file or block device to read, an absolute path (go test runs in the package's directory); without it a data file of SIZE in the user's cache directory, made on first use"`
	Size         Size          `env:"SIZE" doc:"bytes of the data file; with FILE: how much of it to use, without which all of it is" show:"-"`
	ReadSize     SizeList      `env:"READ_SIZE" doc:"bytes of one read; several make several rows" unset:"the workload's" show:"-"`
	ReadsPerOp   int           `env:"READS_PER_OP" doc:"reads of one benchmark operation" unset:"the workload's" show:"-"`
	Threads      ThreadList    `env:"THREADS" doc:"numbers of threads to run with" unset:"the workload's" show:"-"`
	Window       Size          `env:"WINDOW" envDefault:"2MiB" doc:"how far ahead of the cursor the strategies with a window hint, in bytes" show:"-"`
	Depth        int           `env:"DEPTH" doc:"reads that one thread has in flight at the most, in the strategies on io_uring" unset:"the workload's: 64 in rerank, else 16" show:"-"`
	Cases        CaseList      `env:"CASES" envDefault:"hot,cold" doc:"page-cache states to run in" show:"-"`
	Policies     PolicyList    `env:"POLICIES" doc:"prefetch policies of the prefetching rows; all that are set hint by the same call, see docs/policies.md" unset:"always, by one madvise for each range" show:"-"`
	Probe        ProbeCall     `env:"PROBE" doc:"the call by which policies probe: cachestat or mincore; rows are labelled with it" unset:"the cheapest, by measuring" show:"-"`
	Hint         HintCall      `env:"HINT" doc:"the call by which policies hint: fadvise, process_madvise or madvise; rows are labelled with it" unset:"the cheapest, by measuring" show:"-"`
	Limit        Size          `env:"LIMIT" doc:"bytes of page cache that the cases pressureN leave: the data is N % of them, and SIZE must be as much" unset:"worked out: all of SIZE is the data" show:"-"`
	Warmup       time.Duration `env:"WARMUP" envDefault:"200ms" doc:"untimed running before a row is measured"`
	Seed         uint64        `env:"SEED" envDefault:"1" doc:"seed of the data file's content and of all draws"`
	Procs        Procs         `env:"PROCS" envDefault:"threads" doc:"processors (GOMAXPROCS) while measuring: threads gives each thread one; inherit keeps those of go test (-cpu), as a Go server would, and is in the names of the rows" show:"-"`
	Verify       Verify        `env:"VERIFY" envDefault:"pages" doc:"what is checked of each read: pages checks a word in every page and the last one; full checks all of it"`
	Metrics      Metrics       `env:"METRICS" envDefault:"default" doc:"what is reported: default, or all, which adds latencies (and two clock readings to each op) and more evidence"`
	SetupTimeout time.Duration `env:"SETUP_TIMEOUT" envDefault:"10m" doc:"how long making, warming or evicting a file may take" show:"-"`
	Share        Share         `env:"SHARE" envDefault:"wait" doc:"what to do if another run reads the file: wait for its end, go on beside it, or share it with runs that share as well (and wait for those that do not)" show:"-"`
	Turns        bool          `env:"TURNS" doc:"set to true by tools/duel: this process is a contestant, which works only in turns that it is given through the descriptors 3 and 4" unset:"false" show:"-"`

	// of storedfields
	LuceneIndex string      `env:"LUCENE_INDEX" doc:"storedfields: directory of an index to read, instead of one that is built" show:"-"`
	LuceneCheck LuceneCheck `env:"LUCENE_CHECK" envDefault:"ends" doc:"storedfields: what is checked of the data files (.fdt) when an index is opened: ends (header, footer, length), or full (the checksum too, which reads all of them)" show:"-"`
	Docs        int         `env:"DOCS" doc:"storedfields: documents of the index that is built" unset:"1 GiB of them" show:"-"`
	DocSize     Size        `env:"DOC_SIZE" envDefault:"4KiB" doc:"storedfields: bytes of each of its documents" show:"-"`
	DocText     DocText     `env:"DOC_TEXT" envDefault:"random" doc:"storedfields: what they hold: random (incompressible), or json (log-like records, which compress)" show:"-"`
	Skew        Skew        `env:"SKEW" envDefault:"uniform" doc:"storedfields: how documents are drawn: uniform, or zipf (few are read often)" show:"-"`
	TopK        CountList   `env:"TOPK" envDefault:"10,100" doc:"storedfields: documents of one op" show:"-"`

	// of rerank
	Dim       int           `env:"DIM" envDefault:"1024" doc:"rerank: numbers (float32) of a vector" show:"-"`
	Vectors   int           `env:"VECTORS" doc:"rerank: vectors of the file" unset:"1 GiB of them" show:"-"`
	Align     Align         `env:"ALIGN" envDefault:"page" doc:"rerank: where vectors start: page (each at a multiple of 4 KiB), or packed (one behind the other)" show:"-"`
	Shortlist int           `env:"SHORTLIST" envDefault:"350" doc:"rerank: vectors that a query reads" show:"-"`
	Rates     CountList     `env:"RATES" doc:"rerank: queries per second that arrive in the open loop; several make several rows" unset:"the workload's" show:"-"`
	Handlers  int           `env:"HANDLERS" envDefault:"32" doc:"rerank: queries that are served at a time in the open loop" show:"-"`
	Queue     int           `env:"QUEUE" envDefault:"32" doc:"rerank: queries that may wait in the open loop; one more is shed" show:"-"`
	SLAP99    time.Duration `env:"SLA_P99" envDefault:"50ms" doc:"rerank: the 99th percentile of the latency up to which a rate of queries is allowed" show:"-"`
	SLAStep   time.Duration `env:"SLA_STEP" envDefault:"2s" doc:"rerank: how long each rate of queries is tried" show:"-"`
}

// DefaultSize is the size of the data file when neither FILE nor SIZE is set.
const DefaultSize Size = 1 << 30

// Load reads a configuration from an environment in the form of os.Environ. An empty value is as good as none.
// All that is wrong is in the error, which names each variable, its value and what would be right. checkCase says what is
// wrong with the name of a case; nil takes any.
func Load(environ []string, checkCase func(name string) error) (*Config, error) {
	vars := map[string]string{}
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(k, EnvPrefix) {
			vars[k] = v
		}
	}
	errs := unknown(vars)
	c := new(Config)
	if err := env.ParseWithOptions(c, env.Options{Environment: vars, Prefix: EnvPrefix}); err != nil {
		return nil, errors.Join(append(errs, rename(err, vars)...)...)
	}
	if value := vars[EnvPrefix+"SIZE"]; value != "" && c.Size == 0 {
		errs = append(errs, BadValue("SIZE", value, fmt.Errorf("a file has more than 0 bytes; leave it out for the default, %s", DefaultSize)))
	}
	if value := vars[EnvPrefix+"LIMIT"]; value != "" && c.Limit == 0 {
		errs = append(errs, BadValue("LIMIT", value, errors.New("pages of files need more than 0 bytes; leave it out to have it worked out from the file's size")))
	}
	if value := vars[EnvPrefix+"READS_PER_OP"]; value != "" && c.ReadsPerOp == 0 {
		errs = append(errs, BadValue("READS_PER_OP", value, errors.New("an op has at least 1 read; leave it out for the workload's default")))
	}
	for _, v := range []struct {
		name string
		n    int
	}{{"DOCS", c.Docs}, {"VECTORS", c.Vectors}, {"DEPTH", c.Depth}} {
		if value := vars[EnvPrefix+v.name]; value != "" && v.n == 0 {
			errs = append(errs, BadValue(v.name, value, errors.New("there is at least 1; leave it out for the workload's default")))
		}
	}
	for _, name := range c.Cases {
		if checkCase == nil {
			break
		}
		if err := checkCase(name); err != nil {
			errs = append(errs, BadValue("CASES", vars[EnvPrefix+"CASES"], err))
		}
	}
	for _, check := range c.rules() {
		if !check.ok {
			value := cmp.Or(vars[EnvPrefix+check.name], check.value) // as it was set, if it was
			errs = append(errs, BadValue(check.name, value, errors.New(check.remedy)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

type rule struct {
	ok                  bool
	name, value, remedy string
}

// rules are what the types of the fields do not say.
func (c *Config) rules() []rule {
	size := c.Size
	if size == 0 && c.File == "" {
		size = DefaultSize
	}
	const (
		maxRead = 1 << 30
		maxOp   = 1 << 16

		maxDepth = 1 << 10
		maxCount = 1 << 30
		maxDim   = 1 << 16
	)
	rules := []rule{
		{c.Depth >= 0 && c.Depth <= maxDepth, "DEPTH", strconv.Itoa(c.Depth), fmt.Sprintf("a thread has 1 to %d reads in flight", maxDepth)},
		{c.ReadsPerOp >= 0 && c.ReadsPerOp <= maxOp, "READS_PER_OP", strconv.Itoa(c.ReadsPerOp), fmt.Sprintf("an op has 1 to %d reads", maxOp)},
		{c.Window >= 1 && c.Window <= maxRead, "WINDOW", c.Window.String(), "a window has 1 byte to 1GiB"},
		{c.File != "" || size%datafile.BlockSize == 0, "SIZE", size.String(), fmt.Sprintf("the size of a data file is a multiple of %s", Size(datafile.BlockSize))},
		{c.Warmup >= 0 && c.Warmup <= time.Hour, "WARMUP", c.Warmup.String(), "a duration from 0s to 1h"},
		{c.Docs >= 0 && c.Docs <= maxCount, "DOCS", strconv.Itoa(c.Docs), fmt.Sprintf("an index has 1 to %d documents", maxCount)},
		{c.DocSize <= maxRead, "DOC_SIZE", c.DocSize.String(), "a document has 0 bytes to 1GiB"},
		{c.Dim >= 1 && c.Dim <= maxDim, "DIM", strconv.Itoa(c.Dim), fmt.Sprintf("a vector has 1 to %d numbers", maxDim)},
		{c.Vectors >= 0 && c.Vectors <= maxCount, "VECTORS", strconv.Itoa(c.Vectors), fmt.Sprintf("a file has 1 to %d vectors", maxCount)},
		{c.Shortlist >= 1 && c.Shortlist <= maxOp, "SHORTLIST", strconv.Itoa(c.Shortlist), fmt.Sprintf("a query reads 1 to %d vectors", maxOp)},
		{c.Handlers >= 1 && c.Handlers <= maxThreads, "HANDLERS", strconv.Itoa(c.Handlers), fmt.Sprintf("1 to %d queries are served at a time", maxThreads)},
		{c.Queue >= 0 && c.Queue <= maxOp, "QUEUE", strconv.Itoa(c.Queue), fmt.Sprintf("0 to %d queries may wait", maxOp)},
		{c.SLAP99 > 0, "SLA_P99", c.SLAP99.String(), "a duration above zero, such as 50ms"},
		{c.SLAStep > 0 && c.SLAStep <= time.Hour, "SLA_STEP", c.SLAStep.String(), "a duration above zero and up to 1h, such as 2s"},
		{c.SetupTimeout > 0, "SETUP_TIMEOUT", c.SetupTimeout.String(), "a duration above zero, such as 10m"},
	}
	for _, n := range c.ReadSize {
		rules = append(rules,
			rule{n >= 1 && n <= maxRead, "READ_SIZE", n.String(), fmt.Sprintf("a read has 1 byte to 1GiB, and not %s", n)},
			rule{size == 0 || n < size, "READ_SIZE", n.String(), fmt.Sprintf("a read of %s is not smaller than the file, which has %s (%sSIZE=%q)", n, size, EnvPrefix, size)})
	}
	return rules
}

// unknown returns an error for every variable that is none of ours.
func unknown(vars map[string]string) (errs []error) {
	var known []string
	for _, f := range fields() {
		known = append(known, f.name)
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("%s=%q: there is no such variable; there are %s", name, vars[name], strings.Join(known, ", ")))
		}
	}
	return errs
}

// rename puts the names and values of variables into the parser's errors, which name fields.
func rename(err error, vars map[string]string) (errs []error) {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return []error{err}
	}
	for _, err := range all.Errors {
		var parse env.ParseError
		if !errors.As(err, &parse) {
			errs = append(errs, err)
			continue
		}
		for _, f := range fields() {
			if f.field.Name == parse.Name {
				name := strings.TrimPrefix(f.name, EnvPrefix)
				errs = append(errs, BadValue(name, vars[f.name], parse.Err))
			}
		}
	}
	return errs
}

// BadValue is an error about the value of a variable, whose name is given without EnvPrefix.
func BadValue(name, value string, err error) error {
	return fmt.Errorf("%s%s=%q: %w", EnvPrefix, name, value, err)
}

type configField struct {
	name  string // of the variable
	field reflect.StructField
	index int
}

func fields() (fs []configField) {
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		f := t.Field(i)
		fs = append(fs, configField{EnvPrefix + f.Tag.Get("env"), f, i})
	}
	return fs
}

// Variables returns the documentation of all variables as a Markdown table.
func Variables() string {
	var b strings.Builder
	b.WriteString("| variable | default | meaning |\n|---|---|---|\n")
	for _, f := range fields() {
		def := f.field.Tag.Get("envDefault")
		switch f.field.Name {
		case "Size":
			def = DefaultSize.String()
		case "File":
			def = ""
		}
		if def != "" {
			def = "`" + def + "`"
		} else {
			def = f.field.Tag.Get("unset")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.name, def, f.field.Tag.Get("doc"))
	}
	return b.String()
}

// Settings are the configuration lines, key and value, that say how a run was set; variables that show in row names are left
// out.
func (c *Config) Settings() (lines [][2]string) {
	v := reflect.ValueOf(*c)
	for _, f := range fields() {
		if f.field.Tag.Get("show") == "-" || f.field.Name == "File" {
			continue
		}
		key := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(f.name, EnvPrefix)), "_", "-")
		lines = append(lines, [2]string{key, text(v.Field(f.index).Interface())})
	}
	return lines
}

func text(v any) string {
	if m, ok := v.(encoding.TextMarshaler); ok {
		if b, err := m.MarshalText(); err == nil {
			return string(b)
		}
	}
	return fmt.Sprint(v)
}

// SetupContext ends when set-up has taken as long as it may (READBENCH_SETUP_TIMEOUT). The caller calls cancel.
func (c *Config) SetupContext() (ctx context.Context, cancel context.CancelFunc) {
	return context.WithTimeout(context.Background(), c.SetupTimeout)
}

// DefaultFile is where the data file of a size and seed lies when READBENCH_FILE is not set: in the user's
// cache directory.
func DefaultFile(size Size, seed uint64) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no directory for the data file: %w; set %sFILE", err, EnvPrefix)
	}
	return filepath.Join(dir, "readbench", fmt.Sprintf("data-%s-seed%d.bin", size, seed)), nil
}
