package rerank_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/rerank"
)

func TestMain(m *testing.M) { readbench.Main(m) }

func BenchmarkQuery(b *testing.B) { rerank.RunQuery(b) }
