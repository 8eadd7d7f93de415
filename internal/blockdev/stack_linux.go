package blockdev

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/readbench/suite/internal/sh"
)

// Of finds what lies under f. proc and sys are where these file systems are mounted, normally /proc and /sys.
func Of(f *os.File, proc, sys string) Stack {
	w := &walk{sys: sys, look: func(path string) (node, error) { return lookPath(path, proc) }}
	w.mounts = parseMounts(content(proc, "self/mountinfo"))
	n, err := look(f, proc)
	if err != nil {
		return Stack{Unseen: err.Error()}
	}
	path, err := filepath.Abs(f.Name())
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		path = f.Name() // it decides only which of several mounts it is, and the layer of an overlay
	}
	return w.file(path, n)
}

// file is the stack under a file.
func (w *walk) file(path string, n node) (s Stack) {
	defer func() { w.depth--; s.Memory = w.memory }()
	if !w.down() {
		return Stack{Unseen: "its file systems and devices go in a circle"}
	}
	if n.device != "" {
		return w.onDevice(Stack{FileSystem: "none (a block device)"}, n.device)
	}
	m, ok := findMount(w.mounts, n, path)
	if !ok {
		return w.onDevice(Stack{}, n.dev)
	}
	s.FileSystem = m.kind
	w.judgeFileSystem(m, path)
	switch {
	case m.kind == "overlay":
		return w.overlay(m, path, n)
	case m.kind == "btrfs":
		return w.btrfs(s, m)
	case !strings.HasPrefix(n.dev, "0:"):
		return w.onDevice(s, n.dev)
	}
	return w.anonymous(s, m, n.dev)
}

// onDevice adds the block device of a number to s.
func (w *walk) onDevice(s Stack, number string) Stack {
	s.ReadAhead = filepath.Join(w.sys, "class/bdi", number, "read_ahead_kb")
	d, err := w.device(number, w.file)
	if err != nil {
		s.Unseen = err.Error()
		return s
	}
	s.Devices = append(s.Devices, d)
	return s
}

// anonymous is the stack under a file system whose device number is of no device: its source may be devices (bcachefs,
// which separates them by colons), or an image (erofs), or none.
func (w *walk) anonymous(s Stack, m mount, dev string) Stack {
	for source := range strings.SplitSeq(m.source, ":") {
		if !filepath.IsAbs(source) {
			continue
		}
		n, err := w.look(source)
		switch {
		case err != nil:
		case n.device != "":
			s = w.onDevice(s, n.device)
		case n.regular:
			if !slices.Contains(m.options, "directio") {
				w.because("%s is served from the page cache of %s; mount it with -o directio, or from a block device", sh.Quote(m.point), sh.Quote(source))
			}
			s.Devices = append(s.Devices, backing(source, n, w.file)...)
		}
	}
	if len(s.Devices) > 0 {
		s.Unseen = ""
	} else if s.Unseen == "" {
		s.Unseen = m.kind + " has no block device"
	}
	s.ReadAhead = filepath.Join(w.sys, "class/bdi", dev, "read_ahead_kb")
	return s
}

// overlay is the stack under the file of the layer that holds the data. The layers are named as whoever mounted them saw
// them: in a container they may not be there.
func (w *walk) overlay(m mount, path string, n node) Stack {
	unseen := Stack{FileSystem: m.kind, Unseen: "the layers of the overlay cannot be seen from here"}
	rest, ok := cutDir(path, m.point)
	if !ok {
		return unseen
	}
	for _, layer := range m.layers() {
		file := filepath.Join(layer, m.root, rest)
		if !filepath.IsAbs(file) { // relative to a directory that nobody tells
			continue
		}
		// A file that differs is another one of that name, or has been changed in its metadata only (metacopy).
		at, err := w.look(file)
		if err != nil || !at.regular || at.size != n.size || at.blocks != n.blocks || at.mtime != n.mtime {
			continue
		}
		s := w.file(file, at)
		if s.FileSystem == "" {
			s.FileSystem = "unknown"
		}
		s.FileSystem = m.kind + " on " + s.FileSystem
		return s
	}
	return unseen
}

// btrfs is the stack under a file system of several devices, which it lists by name. The one that was mounted is
// among them.
func (w *walk) btrfs(s Stack, m mount) Stack {
	name := filepath.Base(m.source)
	if n, err := w.look(m.source); err == nil && n.device != "" { // the source may be a link, such as /dev/mapper/x
		if dir, err := w.directory(n.device); err == nil {
			name = filepath.Base(dir)
		}
	}
	found, _ := filepath.Glob(filepath.Join(w.sys, "fs/btrfs/*/devices", globQuote(name)))
	if len(found) != 1 {
		s.Unseen = fmt.Sprintf("btrfs lists no file system on %s", m.source)
		return s
	}
	devices := filepath.Dir(found[0])
	entries, err := os.ReadDir(devices)
	if err != nil {
		s.Unseen = err.Error()
		return s
	}
	for _, e := range entries {
		s = w.onDevice(s, content(devices, e.Name(), "dev"))
	}
	s.ReadAhead = filepath.Join(filepath.Dir(devices), "bdi/read_ahead_kb")
	return s
}

// globQuote makes name a pattern that only name matches.
func globQuote(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
