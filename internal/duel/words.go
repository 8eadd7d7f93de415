package duel

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/readbench/suite/internal/anytime"
)

// Words prints what came of a duel in words, one line and the warnings and causes below it; of a race the ranking, too.
func (r *Result) Words(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", r.Title, r.verdict())
	for _, a := range r.Absent {
		state := "failed"
		if a.Skipped {
			state = "skipped"
		}
		fmt.Fprintf(&b, "  %s: %s: %s\n", state, a.Label, strings.ReplaceAll(a.Cause, "\n", "\n  "))
	}
	if r.Void > 0 {
		fmt.Fprintf(&b, "  in %d rounds neither did an op: they tell nothing; take longer turns (-turn)\n", r.Void)
	}
	for _, q := range r.Ratios {
		if q.Outside {
			fmt.Fprintf(&b, "  in total %s did %.4g× the ops per time of %s, which lies outside of the interval: rare stalls differ; see the latencies, or take longer turns (-turn)\n", q.Label, *q.Total, q.To)
		}
	}
	if r.Race {
		r.ranking(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// verdict is the outcome in words.
func (r *Result) verdict() string {
	switch r.Outcome {
	case Failed:
		return "failed: no verdict"
	case Skipped:
		return "skipped"
	}
	if r.Race {
		return r.winner()
	}
	q, after := r.Ratios[0], fmt.Sprintf("%.1f s", r.Seconds)
	switch r.Outcome {
	case anytime.Faster.String(), anytime.Slower.String():
		if r.Outcome == anytime.Slower.String() {
			q = q.turned()
		}
		return fmt.Sprintf("%s is %s%s, decided in %s", q.Label, q.faster(), q.interval(), after)
	case anytime.Same.String():
		return fmt.Sprintf("no difference larger than %s between %s and %s, decided in %s", percent(anytime.Largest(q.lo, q.hi)), q.Label, q.To, after)
	case anytime.Undecided.String():
		return fmt.Sprintf("not decided: %s after %s", q.within(), after)
	}
	return fmt.Sprintf("decides nothing: the difference between %s and %s changed while it was measured (%d rounds, %s)", q.Label, q.To, r.Rounds, after)
}

// winner is the outcome of a race in words.
func (r *Result) winner() string {
	after := fmt.Sprintf("%.1f s", r.Seconds)
	if len(r.Ratios) == 0 {
		return "decides nothing: each contestant was slower than another one in turn, so differences changed while they were measured (" + after + ")"
	}
	var contenders []string
	largest := 0.0
	for _, q := range r.Ratios {
		if !q.Out {
			contenders = append(contenders, q.Label)
			largest = max(largest, anytime.Largest(q.lo, q.hi))
		}
	}
	leader := contenders[0]
	switch r.Outcome {
	case anytime.Faster.String():
		next := r.Ratios[1].turned() // of those that are out the one with the best estimate
		return fmt.Sprintf("%s is the fastest, %s%s, decided in %s", leader, next.faster(), next.interval(), after)
	case anytime.Same.String():
		return fmt.Sprintf("a tie: no difference larger than %s between %s, the fastest, and %s, decided in %s", percent(largest), leader, strings.Join(contenders[1:], ", "), after)
	case anytime.Undecided.String():
		return fmt.Sprintf("not decided: the fastest is one of %s after %s", strings.Join(contenders, ", "), after)
	}
	return fmt.Sprintf("decides nothing: differences between %s changed while they were measured (%s)", strings.Join(contenders, ", "), after)
}

// ranking prints the places of a race.
func (r *Result) ranking(w io.Writer) {
	if len(r.Ratios) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  place\tcontestant\tof the first\tinterval\tops/s\t\n")
	for _, q := range r.Ratios {
		place := fmt.Sprint(q.Best)
		if q.Worst > q.Best {
			place += fmt.Sprintf(" to %d", q.Worst)
		}
		word := map[string]string{"same": "tie", "undecided": "not decided", "contradiction": "contradicts itself"}[q.Outcome]
		interval := strings.Trim(q.interval(), " ()")
		if q.Label == q.To {
			word, interval = "", ""
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%.4g\t%s\n", place, q.Label, times(q.Ratio), interval, r.rate(q.Label), word)
	}
	t.Flush()
}

func (r *Result) rate(label string) float64 {
	for _, c := range r.Contestants {
		if c.Label == label {
			return c.Rate
		}
	}
	return math.NaN()
}

// Table prints pairs as a table, one line each; of races nothing.
func Table(w io.Writer, results []*Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "duel\tcontestant\tagainst\tratio\tinterval\toutcome\tin total\trounds\tseconds")
	for _, r := range results {
		if r.Race {
			continue
		}
		if len(r.Ratios) == 0 {
			fmt.Fprintf(t, "%s\t\t\t\t\t%s\t\t\t\n", r.Title, r.Outcome)
			continue
		}
		q := r.Ratios[0]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%.1f\n", r.Title, q.Label, q.To, times(q.Ratio), strings.Trim(q.interval(), " ()"), r.Outcome, times(q.Total), r.Rounds, r.Seconds)
	}
	return t.Flush()
}

// turned is the ratio the other way round.
func (q Ratio) turned() Ratio {
	inverse := func(p *float64) *float64 {
		if p == nil || *p == 0 {
			return nil
		}
		return finite(1 / *p)
	}
	q.Label, q.To = q.To, q.Label
	q.lo, q.hi = -q.hi, -q.lo
	q.Ratio, q.Total = inverse(q.Ratio), inverse(q.Total)
	q.Low, q.High = inverse(q.High), inverse(q.Low)
	return q
}

// interval is the interval in parentheses, with a space before; nothing if nothing is left of it.
func (q Ratio) interval() string {
	switch {
	case q.Low == nil && q.High == nil:
		return ""
	case q.High == nil:
		return fmt.Sprintf(" (more than %s)", digits(*q.Low))
	case q.Low == nil:
		return fmt.Sprintf(" (less than %s)", digits(*q.High))
	}
	return fmt.Sprintf(" (%s to %s)", digits(*q.Low), digits(*q.High))
}

// faster is how much faster than the other one it is.
func (q Ratio) faster() string {
	if q.Ratio == nil {
		return "faster than " + q.To + ", which did no op in most turns,"
	}
	return times(q.Ratio) + " " + q.To
}

// within says what is not refuted of an undecided pair.
func (q Ratio) within() string {
	switch largest := anytime.Largest(q.lo, q.hi); {
	case !math.IsInf(largest, 0):
		return fmt.Sprintf("%s is within ± %s of %s", q.Label, percent(largest), q.To)
	case q.Low == nil && q.High == nil:
		return fmt.Sprintf("too few rounds of %s and %s to say anything", q.Label, q.To)
	}
	return fmt.Sprintf("%s / %s is%s", q.Label, q.To, q.interval())
}

func times(p *float64) string {
	if p == nil {
		return "?"
	}
	return digits(*p) + "×"
}

// digits is a ratio with three decimals, and with four if it is so near 1 that three would not tell on which side.
func digits(x float64) string {
	if x != 1 && math.Abs(x-1) < 0.0005 {
		return fmt.Sprintf("%.5f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

func percent(x float64) string { return fmt.Sprintf("%.2g %%", 100*x) }
