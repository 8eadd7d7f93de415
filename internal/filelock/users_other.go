//go:build !linux

package filelock

import "os"

func holders(*os.File, string) []Process { return nil }

func users(*os.File, string) []Process { return nil }
