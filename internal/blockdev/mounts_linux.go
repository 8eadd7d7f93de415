package blockdev

import (
	"path/filepath"
	"strconv"
	"strings"
)

// A mount is a line of mountinfo (proc_pid_mountinfo(5)).
type mount struct {
	id      int
	dev     string // "major:minor", as stat(2) has it for most file systems
	root    string // the directory of the file system that is mounted
	point   string // where
	kind    string // ext4, overlay, …
	source  string
	options []string // the file system's own, with escapes
}

func parseMounts(text string) (all []mount) {
	for line := range strings.Lines(text) {
		// ID parent major:minor root mountpoint options [tags] - type source superoptions
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 1 {
			continue
		}
		id, _ := strconv.Atoi(left[0])
		m := mount{id: id, dev: left[2], root: unescape(left[3]), point: unescape(left[4]), kind: right[0]}
		if len(right) > 2 {
			m.source, m.options = unescape(right[1]), strings.Split(right[2], ",")
		}
		all = append(all, m)
	}
	return all
}

// findMount is the mount of a file: by its ID, else the last one of its device that its path is below, else any of its device.
func findMount(all []mount, n node, path string) (found mount, ok bool) {
	best := -1
	for _, m := range all {
		if n.mount != 0 && m.id == n.mount {
			return m, true
		}
		if m.dev != n.dev {
			continue
		}
		length := 0
		if _, below := cutDir(path, m.point); below {
			length = len(m.point)
		}
		if length >= best {
			found, ok, best = m, true, length
		}
	}
	return found, ok
}

// cutDir is what of path is below dir.
func cutDir(path, dir string) (rest string, ok bool) {
	rest, err := filepath.Rel(dir, path)
	return rest, err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}

// values are the values of an option, in their order: overlayfs may have lowerdir+= several times.
func (m mount) values(names ...string) (all []string) {
	for _, o := range m.options {
		for _, name := range names {
			if v, ok := strings.CutPrefix(o, name+"="); ok {
				all = append(all, unescape(v))
			}
		}
	}
	return all
}

// unescape undoes the kernel's escapes of white space, backslashes and commas: \040.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// layers are the directories of an overlay, the one that covers the others first. They are told as they were given to
// mount(2), where a backslash takes the meaning from a colon, a comma or another backslash; colons separate lower ones.
func (m mount) layers() (all []string) {
	for _, v := range m.values("upperdir") {
		all = append(all, splitLayers(v, 0)...)
	}
	for _, v := range m.values("lowerdir") {
		all = append(all, splitLayers(v, ':')...)
	}
	return append(all, m.values("lowerdir+", "datadir+")...) // one by one, and as they are
}

// splitLayers splits a list at its separators, and removes backslashes.
func splitLayers(list string, separator byte) (all []string) {
	var dir strings.Builder
	end := func() {
		if dir.Len() > 0 { // "::" comes before layers of data only
			all = append(all, dir.String())
		}
		dir.Reset()
	}
	for i := 0; i < len(list); i++ {
		switch {
		case list[i] == '\\' && i+1 < len(list):
			i++
			dir.WriteByte(list[i])
		case list[i] == separator:
			end()
		default:
			dir.WriteByte(list[i])
		}
	}
	end()
	return all
}
