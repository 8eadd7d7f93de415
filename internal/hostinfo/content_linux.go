package hostinfo

// How the files of proc and sysfs are read: what cannot be read is unknown.

import (
	"os"
	"strings"
)

const unknown = "unknown"

func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

func content(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return unknown
	}
	return orUnknown(strings.TrimSpace(string(b)))
}

// chosen returns the bracketed word of a list such as "[none] mq-deadline".
func chosen(list string) string {
	for word := range strings.FieldsSeq(list) {
		if strings.HasPrefix(word, "[") {
			return strings.Trim(word, "[]")
		}
	}
	return list
}
