package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A pkg is a package, and what its files need of each other.
type pkg struct {
	name    string // import path, without the module's
	imports []string
	files   graph
	why     map[[2]string]string // the name of something that one file needs of another
}

// listed is what "go list" tells of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	DepOnly                 bool
	Module                  *struct{ Path string }
}

// load reads the packages of a module that patterns name.
func load(patterns []string) ([]pkg, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,Imports,DepOnly,Module"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var own []listed
	exports := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			own = append(own, p)
		}
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	var pkgs []pkg
	for _, p := range own {
		read, err := read(p, fset, imp)
		if err != nil {
			return nil, err
		}
		pkgs = append(pkgs, read)
	}
	return pkgs, nil
}

func short(p listed) func(path string) string {
	return func(path string) string {
		if p.Module == nil {
			return path
		}
		return strings.TrimPrefix(path, p.Module.Path+"/")
	}
}

// read parses and checks a package.
func read(p listed, fset *token.FileSet, imp types.Importer) (pkg, error) {
	r := pkg{name: short(p)(p.ImportPath), files: graph{}, why: map[[2]string]string{}}
	for _, path := range p.Imports {
		if name := short(p)(path); name != path {
			r.imports = append(r.imports, name)
		}
	}
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return r, err
		}
		parsed = append(parsed, f)
		r.files[name] = map[string]bool{}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: imp}).Check(p.ImportPath, fset, parsed, info); err != nil {
		return r, err
	}
	for id, obj := range info.Uses {
		if obj.Pkg() == nil || obj.Pkg().Path() != p.ImportPath {
			continue
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(obj.Pos()).Filename)
		if from == to || obj.Name() == "_" {
			continue
		}
		r.files.add(from, to)
		key := [2]string{from, to}
		if was := r.why[key]; was == "" || obj.Name() < was { // any, but always the same
			r.why[key] = obj.Name()
		}
	}
	return r, nil
}

// importArrows is which of the packages import which.
func importArrows(pkgs []pkg) graph {
	g := graph{}
	for _, p := range pkgs {
		g[p.name] = map[string]bool{}
	}
	for _, p := range pkgs {
		for _, path := range p.imports {
			if g[path] != nil {
				g.add(p.name, path)
			}
		}
	}
	return g
}
