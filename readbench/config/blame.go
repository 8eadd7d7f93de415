package config

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Blame returns err as an error that the values of variables cause: it names those of them that are set, in the form
// READBENCH_NAME="value". names are without READBENCH_. What err wraps it wraps too; if none is set, it is err itself.
// It is safe for concurrent use.
func (c *Config) Blame(err error, names ...string) error {
	if c == nil || err == nil {
		return err
	}
	var causes []string
	v := reflect.ValueOf(*c)
	for _, f := range fields() {
		name := strings.TrimPrefix(f.name, EnvPrefix)
		if value := v.Field(f.index); slices.Contains(names, name) && !value.IsZero() {
			causes = append(causes, fmt.Sprintf("%s=%q", f.name, valueText(value)))
		}
	}
	if len(causes) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", strings.Join(causes, ", "), err)
}

// valueText is a value as it is set in a variable.
func valueText(v reflect.Value) string {
	if d, ok := v.Interface().(time.Duration); ok { // 10m, where Duration says 10m0s
		s := d.String()
		if cut, ok := strings.CutSuffix(s, "m0s"); ok {
			s = cut + "m"
		}
		if cut, ok := strings.CutSuffix(s, "h0m"); ok {
			s = cut + "h"
		}
		return s
	}
	if v.Kind() != reflect.Slice {
		return text(v.Interface())
	}
	var parts []string
	for i := range v.Len() {
		parts = append(parts, text(v.Index(i).Interface()))
	}
	return strings.Join(parts, ",")
}

// Deadline adds the remedy to an error that came because set-up took too long.
func (c *Config) Deadline(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return c.Blame(fmt.Errorf("%w; set-up may take longer with a larger value", err), "SETUP_TIMEOUT")
	}
	return err
}

// What decides whether there is enough of the data for a row: of a file, and of a workload's own units.
var (
	FileAmount = []string{"FILE", "SIZE", "READ_SIZE", "READS_PER_OP", "THREADS"}
	UnitAmount = []string{"THREADS", "LUCENE_INDEX", "DOCS", "VECTORS"}
)
