// Arrows draws which packages of a module import which, and which files of each package need which others.
//
//	arrows [-files] [-check] [PATTERN…]
//
// Without PATTERN it is ./... of the present directory. Packages stand in layers: each imports only those of layers below
// it. With -files the files of each package stand in layers, too: a file needs another if it uses something that is declared
// there, be it a function, a type, a method, a field, a constant or a variable. Test files are left out.
//
// With -check nothing is drawn; files that need each other, directly or around a corner, are listed, and the exit status is 1
// if there are any, 0 if not. It is 2 if the packages cannot be read. It works on the build for this system.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

const (
	exitOK     = 0
	exitKnots  = 1
	exitFailed = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("arrows", flag.ContinueOnError)
	flags.SetOutput(stderr)
	files := flags.Bool("files", false, "draw the files of each package, too")
	check := flags.Bool("check", false, "draw nothing, and say which files need each other")
	if err := flags.Parse(args); err != nil {
		return exitFailed
	}
	patterns := flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	pkgs, err := load(patterns)
	if err != nil {
		fmt.Fprintf(stderr, "arrows: %v\n", err)
		return exitFailed
	}
	if *check {
		return printKnots(stdout, pkgs)
	}
	draw(stdout, "packages", importArrows(pkgs))
	if *files {
		for _, p := range pkgs {
			draw(stdout, p.name, p.files)
		}
	}
	return exitOK
}

func printKnots(w io.Writer, pkgs []pkg) int {
	code := exitOK
	for _, p := range pkgs {
		for _, knot := range p.files.knots() {
			code = exitKnots
			fmt.Fprintf(w, "%s: these files need each other: %v\n", p.name, knot)
			for _, from := range knot {
				for _, to := range p.files.of(from) {
					if knot.has(to) {
						fmt.Fprintf(w, "\t%s needs %s of %s\n", from, p.why[[2]string{from, to}], to)
					}
				}
			}
		}
	}
	return code
}
