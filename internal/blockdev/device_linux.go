package blockdev

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/readbench/suite/internal/sh"
)

// Devices lie on files (loop), and files on devices: what a file lies on is told by who asks for a device.
type fileStack func(path string, n node) Stack

// device is the device of a number with all that lies below it.
func (w *walk) device(number string, under fileStack) (*Device, error) {
	defer func() { w.depth-- }()
	if !w.down() {
		return nil, fmt.Errorf("the devices under %s go in a circle", number)
	}
	dir, err := w.directory(number)
	if err != nil {
		return nil, err
	}
	disk := dir
	if exists(dir, "partition") || !exists(dir, "queue") { // a partition has its disk's queue, and lies on what its disk lies on
		disk = filepath.Dir(dir)
	}
	d := &Device{Name: plain(dir), Queue: filepath.Join(disk, "queue")}
	if exists(disk, "loop") {
		d.On = w.loop(disk, under)
		return d, nil
	}
	slaves, err := os.ReadDir(filepath.Join(disk, "slaves"))
	for _, e := range slaves {
		on, err := w.device(content(disk, "slaves", e.Name(), "dev"), under)
		if err != nil {
			return nil, fmt.Errorf("under %s: %w", d.Name, err)
		}
		d.On = append(d.On, on)
	}
	if len(d.On) == 0 {
		w.judgeDevice(disk, err == nil)
	}
	return d, nil
}

// loop is what a loop device lies on: what its file lies on.
func (w *walk) loop(disk string, under fileStack) []*Device {
	name, file := plain(disk), content(disk, "loop/backing_file")
	if content(disk, "loop/dio") != "1" {
		w.because("%s is served from the page cache of %s; have it read directly: losetup --direct-io=on /dev/%s", name, sh.Quote(file), name)
	}
	n, err := w.look(file)
	if err != nil { // deleted, or in a part of the file system that is not seen from here
		w.because("%s is served from %s, which cannot be looked at (%v), so it may lie in memory; attach it where its file can be seen", name, sh.Quote(file), err)
		return nil
	}
	if n.buffered {
		w.because("%s is served from %s, of which direct reads go through the page cache; keep that file on a file system that reads it directly", name, sh.Quote(file))
	}
	known := w.memory != ""
	on := backing(file, n, under)
	if !known && w.memory != "" {
		w.memory = fmt.Sprintf("%s is served from %s, and %s", name, sh.Quote(file), w.memory)
	}
	return on
}

// backing is what a file that stands for a device lies on; its file system, if that has no device.
func backing(file string, n node, under fileStack) []*Device {
	s := under(file, n)
	if len(s.Devices) > 0 {
		return s.Devices
	}
	if s.FileSystem == "" {
		s.FileSystem = "unknown"
	}
	return []*Device{{Name: s.FileSystem}}
}
