package config

import "testing"

func TestSize(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Size
		back string // the text form of want, "" if it is text
	}{
		{"0", 0, ""},
		{"4096", 4096, "4KiB"},
		{"16KiB", 16 << 10, ""},
		{"1GiB", 1 << 30, ""},
		{"2TiB", 2 << 40, ""},
		{"512B", 512, "512"},
		{"16000", 16000, ""},
		{"1536MiB", 1536 << 20, ""},
		{"1048576TiB", 1 << 60, ""},
	} {
		var s Size
		if err := s.UnmarshalText([]byte(tc.text)); err != nil || s != tc.want {
			t.Errorf("%q is %d, %v; want %d", tc.text, s, err, tc.want)
		}
		back := tc.back
		if back == "" {
			back = tc.text
		}
		if tc.want < 1<<60 && s.String() != back {
			t.Errorf("%q prints as %q, want %q", tc.text, s, back)
		}
	}
}

// What other tools read in two ways, or what is no size, is refused.
func TestSizeRefused(t *testing.T) {
	for _, text := range []string{"", "16k", "16K", "16KB", "16 KiB", "1.5GiB", "-1", "+1", "1e6", "0x10", "KiB", "１６", "16kib",
		"9999999999999999999999", "999999999999999999TiB", "1048577TiB", "999999999999999999999KiB", "2000000TiB", "1152921504606846977"} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted as %d", text, s)
		}
	}
}

// Whatever is accepted prints as something that means the same.
func FuzzSize(f *testing.F) {
	for _, text := range []string{"0", "16KiB", "1GiB", "999999999999999999", "16k", "1048576TiB"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s, back Size
		if s.UnmarshalText([]byte(text)) != nil {
			return
		}
		if s < 0 || int64(s) > maxSize {
			t.Fatalf("%q is %d", text, int64(s))
		}
		if err := back.UnmarshalText([]byte(s.String())); err != nil || back != s {
			t.Fatalf("%q is %d, which prints as %q, which is %d, %v", text, int64(s), s, int64(back), err)
		}
	})
}
