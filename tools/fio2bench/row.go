package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// A row is one line of benchmark format.
type row struct {
	name   string
	iters  int64
	values []value
}

type value struct {
	amount float64
	unit   string
}

// unitLines say which direction of the units that are not the testing package's own is better.
const unitLines = "Unit ops/ms better=higher\nUnit cpu-ns/op better=lower\n"

// row turns the job into a row, an op being so many reads.
func (j job) row(reads int) (row, error) {
	if err := checkName(j.Name); err != nil {
		return row{}, err
	}
	switch {
	case j.Error != 0:
		return row{}, fmt.Errorf("fio says that it failed, with error %d", j.Error)
	case j.Read == nil || j.Read.IOs <= 0:
		return row{}, errors.New("it read nothing: is its rw=read or randread, and did it run?")
	case j.Write.IOs != 0 || j.Trim.IOs != 0:
		return row{}, fmt.Errorf("it writes or trims, too (%d and %d times): only readers can be compared", j.Write.IOs, j.Trim.IOs)
	case j.Read.IOPS == nil || j.Read.Bytes == nil:
		return row{}, errors.New("its read has no iops or no bw_bytes: fio 3.x writes both")
	case j.Runtime == nil || j.User == nil || j.System == nil:
		return row{}, errors.New("it has no job_runtime, usr_cpu or sys_cpu: fio 3.x writes all of them")
	}
	n := float64(reads)
	cpu := (*j.User + *j.System) / 100 * *j.Runtime * 1e6 // ns
	r := row{"BenchmarkFio" + j.Name, j.Read.IOs, []value{
		{n * 1e9 / *j.Read.IOPS, "ns/op"},
		{*j.Read.Bytes / 1e6, "MB/s"},
		{*j.Read.IOPS / n / 1000, "ops/ms"},
		{cpu / (float64(j.Read.IOs) / n), "cpu-ns/op"},
	}}
	// What fio prints for a job that ran long enough is far inside these limits. (benchfmt does not turn a
	// zero's ns into seconds: such a value would be of another unit than its like.)
	const largest = 1e18
	for _, v := range r.values {
		if math.IsNaN(v.amount) || v.amount < 0 || v.amount > largest || v.amount == 0 {
			return row{}, fmt.Errorf("its %s would be %g (iops %g, bw_bytes %g, job_runtime %g ms, usr_cpu %g %%, sys_cpu %g %%): did it run too short a time?",
				v.unit, v.amount, *j.Read.IOPS, *j.Read.Bytes, *j.Runtime, *j.User, *j.System)
		}
	}
	return r, nil
}

var endsInProcs = regexp.MustCompile(`-[0-9]+$`)

// checkName returns an error if the name of a job cannot be that of a benchmark.
func checkName(name string) error {
	const longest = 1000
	notShown := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar }
	switch {
	case name == "":
		return errors.New("it has no name: the row would have none")
	case len(name) > longest:
		return fmt.Errorf("its name is longer than %d bytes", longest)
	case strings.ContainsFunc(name, notShown):
		return errors.New("its name holds a space or a character that cannot be seen: a benchmark's name has none")
	case endsInProcs.MatchString(name):
		return fmt.Errorf("its name ends in %s, which benchmark format takes for GOMAXPROCS: write key=value", endsInProcs.FindString(name))
	}
	return nil
}

// format returns the rows as text.
func format(rows []row) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(unitLines)
	for _, r := range rows {
		fmt.Fprintf(&b, "%s\t%d", r.name, r.iters)
		for _, v := range r.values {
			fmt.Fprintf(&b, "\t%s %s", number(v.amount), v.unit)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// number returns v, which is not negative, without an exponent and with at least six significant digits if it
// is above 10⁻⁹.
func number(v float64) string {
	decimals := 0
	for x := v; x < 1e5 && x > 0 && decimals < 15; x *= 10 {
		decimals++
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
