package readbench

import "testing"

// A case that there is not is refused with those that there are.
func TestLoadChecksCases(t *testing.T) {
	for _, tc := range []struct {
		env  string
		want []string
	}{
		{"READBENCH_CASES=lukewarm", []string{`READBENCH_CASES="lukewarm"`, "hot, cold", "mixedN", "pressureN"}},
		{"READBENCH_CASES=mixed100", []string{`READBENCH_CASES="mixed100"`, "1 to 99"}},
		{"READBENCH_CASES=pressure100", []string{`READBENCH_CASES="pressure100"`, "101"}},
	} {
		t.Run(tc.env, func(t *testing.T) {
			c, err := Load([]string{tc.env})
			if err == nil {
				t.Fatalf("accepted: %+v", c)
			}
			for _, want := range tc.want {
				wantError(t, err, want)
			}
		})
	}
	if c, err := Load([]string{"READBENCH_CASES=hot,cold,mixed99,pressure101"}); err != nil || len(c.Cases) != 4 {
		t.Errorf("%v, %v", c, err)
	}
}
