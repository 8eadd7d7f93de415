package datafile

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"
)

const (
	pathEnv = "DATAFILE_TEST_PATH" // set in a child process: the file to make
	roleEnv = "DATAFILE_TEST_ROLE" // what the child does
)

// roles are what this test binary does when a test starts it again as another process.
var roles = map[string]func(path string) error{"create": createRole}

func TestMain(m *testing.M) {
	if role, ok := roles[os.Getenv(roleEnv)]; ok {
		if err := role(os.Getenv(pathEnv)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// createRole says that it is ready, waits for its standard input to end, makes the file and says whether it was
// the one that did.
func createRole(path string) error {
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	made, err := Create(context.Background(), testSpec(path))
	if err == nil {
		fmt.Println("made:", made)
	}
	return err
}

// filled is the content of the seed in n bytes at any offset: a cut from what Fill writes at a multiple of 8.
func filled(seed uint64, off int64, n int) []byte {
	start := off &^ 7
	lead := int(off - start)
	p := make([]byte, (lead+n+7)&^7)
	New(seed).Fill(p, start)
	return p[lead : lead+n]
}
