package cases

import (
	"fmt"
	"strings"
)

// table is the cases of READBENCH_CASES: forms of their names, and what parses them.
var table = []struct {
	form  string
	parse func(name string) (Case, bool)
}{
	{"hot", func(name string) (Case, bool) { return hotCase{}, name == "hot" }},
	{"cold", func(name string) (Case, bool) { return coldCase{}, name == "cold" }},
	{"pressureN (data is N % of the memory, from 101 on)", func(name string) (Case, bool) { return parsePressure(name) }},
	{"mixedN (N % of the reads are cold, 1 to 99)", func(name string) (Case, bool) { return parseMixed(name) }},
}

// Parse returns the case of a name.
func Parse(name string) (Case, error) {
	var forms []string
	for _, c := range table {
		if pc, ok := c.parse(name); ok {
			return pc, nil
		}
		forms = append(forms, c.form)
	}
	return nil, fmt.Errorf("%q is no case; there are %s", name, strings.Join(forms, ", "))
}

// Check says what is wrong with the name of a case, or nil.
func Check(name string) error {
	_, err := Parse(name)
	return err
}
