package sh

import (
	"os/exec"
	"strings"
	"testing"
)

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"":              "''",
		"/mnt/nvme/a-b": "/mnt/nvme/a-b",
		"16KiB":         "16KiB",
		"a b":           "'a b'",
		"it's":          `'it'\''s'`,
		"$HOME":         "'$HOME'",
		"~/x":           "'~/x'",
		"a=b":           "'a=b'",
		"größe":         "'größe'",
	} {
		if got := Quote(s); got != want {
			t.Errorf("%q is %s, want %s", s, got, want)
		}
	}
}

// nasty has all that shells give a meaning.
var nasty = []string{"a b", "it's a $HOME", "`id`", `\`, `"`, "*", "?", "[a]", "#x", "!x", "~", ";", "&", "|", "<>", "()", "{a,b}", "\t", "a\nb", "-n", "=", "%s", ""}

// The shell gives back what was quoted.
func TestPasted(t *testing.T) {
	words := append([]string{"printf", `%s\0`}, nasty...)
	out, err := exec.Command("sh", "-c", Command(words...)).CombinedOutput()
	if want := strings.Join(nasty, "\x00") + "\x00"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, "\x00") { // in no path, and in no command
			return
		}
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(s)).CombinedOutput()
		if err != nil || string(out) != s {
			t.Errorf("%v: %q, want %q", err, out, s)
		}
	})
}
