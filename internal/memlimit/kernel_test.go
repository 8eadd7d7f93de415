package memlimit

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// A kernel plays the kernel's part on a recorded tree: groups can be made, entered, divided and removed by its
// rules, and calls can be made to fail.
type kernel struct {
	base    root
	text    map[string]string // files that are not as in base
	absent  []string          // files and directories of base that are not there
	made    map[string]bool   // groups
	members map[string]string // process → directory of its group
	faults  map[string]error  // "write NAME", "mkdir NAME", …, also with a "*" for the last part of the name
	sets    map[string]string // what files of groups become, whatever is written; "-" if they are not there
	changes []string          // what was done to groups, in order
	mount   string
}

const (
	other = "1"   // who is in the group beside the process itself
	me    = "750" // as recorded
)

func newKernel(tree, home string) *kernel {
	k := &kernel{
		base: root(filepath.Join("testdata", tree)), text: map[string]string{}, made: map[string]bool{},
		members: map[string]string{other: home, me: home}, faults: map[string]error{}, sets: map[string]string{}, mount: "/sys/fs/cgroup",
	}
	if strings.HasPrefix(tree, "hybrid") {
		k.mount = "/sys/fs/cgroup/memory"
	}
	return k
}

func (k *kernel) unified() bool { return k.mount == "/sys/fs/cgroup" }

func (k *kernel) fault(op, name string) error {
	for _, key := range []string{op + " " + name, op + " " + path.Dir(name) + "/*", op + " */" + path.Base(name)} {
		if err := k.faults[key]; err != nil {
			return &os.PathError{Op: op, Path: name, Err: err}
		}
	}
	return nil
}

func (k *kernel) has(name string) bool {
	if _, ok := k.text[name]; ok || k.made[name] {
		return true
	}
	for _, a := range k.absent {
		if a == name || strings.HasPrefix(name, a+"/") {
			return false
		}
	}
	_, err := os.Stat(k.base.path(name))
	return err == nil
}

func (k *kernel) Read(name string) (string, error) {
	if err := k.fault("read", name); err != nil {
		return "", err
	}
	dir, file := path.Split(name)
	dir = path.Clean(dir)
	switch {
	case file == "cgroup.procs" && (k.made[dir] || k.has(name)):
		var in []string
		for _, pid := range slices.Sorted(maps.Keys(k.members)) {
			if k.members[pid] == dir {
				in = append(in, pid+"\n")
			}
		}
		return strings.Join(in, ""), nil
	case name == "/proc/self/cgroup":
		text, err := k.base.Read(name)
		was, _ := groupOf(text, map[bool]string{true: "", false: "memory"}[k.unified()])
		is := "/" + strings.TrimPrefix(strings.TrimPrefix(k.members[me], k.mount), "/")
		return strings.Replace(text, ":"+was+"\n", ":"+is+"\n", 1), err
	}
	if text, ok := k.text[name]; ok {
		return text, nil
	}
	if !k.has(name) {
		return "", &os.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	return k.base.Read(name)
}

func (k *kernel) Write(name, text string) error {
	if err := k.fault("write", name); err != nil {
		return err
	}
	dir, file := path.Split(name)
	dir = path.Clean(dir)
	refuse := func(err error) error { return &os.PathError{Op: "write", Path: name, Err: err} }
	old, err := k.Read(name)
	if err != nil {
		return refuse(syscall.ENOENT)
	}
	k.changes = append(k.changes, fmt.Sprintf("%s=%s", strings.TrimPrefix(name, k.mount+"/"), text))
	switch file {
	case "cgroup.procs":
		if control, _ := k.Read(path.Join(dir, "cgroup.subtree_control")); strings.TrimSpace(control) != "" && dir != k.mount {
			return refuse(syscall.EBUSY) // no processes in a group that divides its resources
		}
		if k.members[text] == "" {
			return refuse(syscall.ESRCH)
		}
		k.members[text] = dir
	case "cgroup.subtree_control":
		controllers := strings.Fields(old)
		switch name := text[1:]; {
		case text[0] == '-':
			controllers = slices.DeleteFunc(controllers, func(s string) bool { return s == name })
		case slices.Contains(slices.Collect(maps.Values(k.members)), dir) && dir != k.mount:
			return refuse(syscall.EBUSY)
		default:
			controllers = append(controllers, name)
		}
		k.text[name] = strings.Join(controllers, " ") + "\n"
	default:
		if set, ok := k.sets[file]; ok {
			text = set
		}
		if text == "-1" {
			text = "9223372036854771712"
		}
		k.text[name] = text + "\n"
	}
	return nil
}

var numbers = regexp.MustCompile(`(?m)\b[0-9]+$`)

// template is where new groups take their files from.
func (k *kernel) template() string {
	if k.unified() {
		return "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope"
	}
	return k.mount + "/job/1"
}

func (k *kernel) Mkdir(name string) error {
	if err := k.fault("mkdir", name); err != nil {
		return err
	}
	if k.has(name) {
		return &os.PathError{Op: "mkdir", Path: name, Err: syscall.EEXIST}
	}
	entries, err := os.ReadDir(k.base.path(k.template()))
	if err != nil {
		return err
	}
	control, _ := k.Read(path.Join(path.Dir(name), "cgroup.subtree_control"))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "memory.") && k.unified() && !strings.Contains(control, "memory") {
			continue
		}
		if k.sets[e.Name()] == "-" {
			continue
		}
		text, err := k.base.Read(path.Join(k.template(), e.Name()))
		if err != nil {
			return err
		}
		if !strings.Contains(e.Name(), "limit") && !strings.Contains(e.Name(), "max") {
			text = numbers.ReplaceAllString(text, "0") // nothing is in it yet
		}
		k.text[path.Join(name, e.Name())] = text
	}
	k.made[name] = true
	k.changes = append(k.changes, "mkdir "+strings.TrimPrefix(name, k.mount+"/"))
	return nil
}

func (k *kernel) Rmdir(name string) error {
	if err := k.fault("rmdir", name); err != nil {
		return err
	}
	if !k.made[name] {
		return &os.PathError{Op: "rmdir", Path: name, Err: syscall.ENOENT}
	}
	for _, dir := range k.members {
		if dir == name {
			return &os.PathError{Op: "rmdir", Path: name, Err: syscall.EBUSY}
		}
	}
	delete(k.made, name)
	maps.DeleteFunc(k.text, func(file, _ string) bool { return path.Dir(file) == name })
	k.changes = append(k.changes, "rmdir "+strings.TrimPrefix(name, k.mount+"/"))
	return nil
}

func (k *kernel) Dirs(name string) (dirs []string, err error) {
	if err := k.fault("dirs", name); err != nil {
		return nil, err
	}
	for dir := range k.made {
		if path.Dir(dir) == name {
			dirs = append(dirs, path.Base(dir))
		}
	}
	if name == "/run/systemd/system" && k.text[name] != "" {
		return nil, nil
	}
	recorded, err := k.base.Dirs(name)
	if len(dirs) > 0 {
		err = nil
	}
	return append(dirs, recorded...), err
}

func (k *kernel) Link(name string) (string, error) {
	if name == "/proc/self/ns/pid" {
		return "pid:[4026531836]", nil
	}
	return "", &os.PathError{Op: "readlink", Path: name, Err: syscall.ENOENT}
}

// watch is a janitor that does nothing.
func (k *kernel) watch(w watched) (closer, error) {
	if err := k.faults["watch"]; err != nil {
		return nil, err
	}
	k.changes = append(k.changes, "watch")
	return noJanitor{k}, nil
}

type noJanitor struct{ k *kernel }

func (n noJanitor) Close() error {
	n.k.changes = append(n.k.changes, "unwatch")
	return nil
}

// state is all that Close has to bring back.
func (k *kernel) state() string {
	var lines []string
	for _, pid := range slices.Sorted(maps.Keys(k.members)) {
		lines = append(lines, pid+" in "+k.members[pid])
	}
	for _, dir := range slices.Sorted(maps.Keys(k.made)) {
		lines = append(lines, "group "+dir)
	}
	for _, name := range slices.Sorted(maps.Keys(k.text)) {
		if path.Base(name) == "cgroup.subtree_control" && !k.made[path.Dir(name)] {
			lines = append(lines, name+" = "+strings.TrimSpace(k.text[name]))
		}
	}
	return strings.Join(lines, "\n")
}
