package rerank_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/rerank"
)

func TestMain(m *testing.M) { readbench.Main(m) }

func BenchmarkQuery(b *testing.B)    { rerank.RunQuery(b) }
func BenchmarkOpenLoop(b *testing.B) { rerank.RunOpenLoop(b) }
func BenchmarkSLA(b *testing.B)      { rerank.RunSLA(b) }
