package strategies

import "github.com/readbench/suite/readbench/strategy"

// Null is the strategy that reads nothing. With it a row measures the harness itself.
func Null() strategy.Strategy { return null{} }

type null struct{}

func (null) Name() string                                                 { return "null" }
func (null) Open(*strategy.File, strategy.Setup) (strategy.Opened, error) { return null{}, nil }
func (null) Reader(int) (strategy.Reader, error)                          { return null{}, nil }
func (null) Read(strategy.Range) ([]byte, error)                          { return nil, nil }
func (null) Close() error                                                 { return nil }
