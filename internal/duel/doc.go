// Package duel is the coordinator of duels: it starts contestants, each in a process of its own, gives them turns in an order drawn at
// random, and says which is faster and by how much. How sure that is, package anytime says; what is told over the pipes, package
// turns. docs/duel.md is for those who use it.
//
// List tells the rows of a contestant, Pair or Gather which of them compete, and Run holds one duel. Words, Table, Samples and the JSON of
// Result are four ways to say what came of it.
package duel
