// Package sh writes commands for people to paste into a shell.
package sh

import "strings"

// plain are the bytes that no POSIX shell, nor zsh, takes for anything but themselves, wherever they stand in a word.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./-"

// Quote returns s as one word of a command: as it is if that is safe, else in single quotes, in which nothing but the
// single quote has a meaning (POSIX.1-2024, Shell Command Language, 2.2.2).
func Quote(s string) string {
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Command returns a command of these words.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}
