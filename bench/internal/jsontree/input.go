package jsontree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Input reads the JSON text to parse and describes it for a report. The path
// "" stands for the output of `go list -json -deps std` of the Go on this
// machine (some 0.8 MB; running it takes about a second), "-" for standard
// input to its end, and anything else is the name of a file.
//
// The text is not parsed here. An error says in one line what could not be
// read: a missing file, a missing or failing go command, or a text with
// nothing but white space. Input runs a command and reads files, so a program
// that needs the text in several processes should call it once and hand the
// text on.
func Input(path string) (data []byte, description string, err error) {
	switch path {
	case "":
		data, description, err = goList()
	case "-":
		description = "standard input"
		data, err = io.ReadAll(os.Stdin)
		if err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
	default:
		description = path
		data, err = os.ReadFile(path) // its errors name the file
	}
	if err != nil {
		return nil, "", err
	}
	if skipSpace(data, 0) == len(data) {
		if len(data) == 0 {
			return nil, "", fmt.Errorf("%s is empty: want JSON", description)
		}
		return nil, "", fmt.Errorf("%s holds nothing but white space: want JSON", description)
	}
	return data, fmt.Sprintf("%s (%d bytes)", description, len(data)), nil
}

// goList runs go list over the standard library.
func goList() (data []byte, description string, err error) {
	goCmd, err := findGo()
	if err != nil {
		return nil, "", err
	}
	version, err := runGo(goCmd, "env", "GOVERSION")
	if err != nil {
		return nil, "", err
	}
	data, err = runGo(goCmd, "list", "-json", "-deps", "std")
	if err != nil {
		return nil, "", err
	}
	return data, fmt.Sprintf("go list -json -deps std of %s", bytes.TrimSpace(version)), nil
}

// findGo returns the go command: the one in PATH, otherwise that of the Go
// this program was built with.
func findGo() (string, error) {
	path, err := exec.LookPath("go")
	if err == nil {
		// A command found through a relative entry of PATH would not be
		// found again from the directory that runGo uses.
		return filepath.Abs(path)
	}
	//lint:ignore SA1019 A go command that is not in PATH may still be where this program was built.
	if root := runtime.GOROOT(); root != "" {
		path, rootErr := exec.LookPath(filepath.Join(root, "bin", "go"))
		if rootErr == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the default input needs the go command: %w; name a JSON file instead", err)
}

// runGo runs the go command where the user's modules do not matter: GOPATH
// mode looks for no go.mod and no go.work, and flags meant for the user's
// builds (-mod=vendor, for one) are taken away.
func runGo(goCmd string, args ...string) ([]byte, error) {
	cmd := exec.Command(goCmd, args...)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GO111MODULE=off", "GOWORK=off", "GOFLAGS=", "PWD="+cmd.Dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err == nil && stdout.Len() == 0 {
		// With a GOROOT that is gone, go list std warns and succeeds.
		err = errors.New("printed nothing")
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w", goCmd, strings.Join(args, " "), err)
		if line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n"); line != "" {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(line))
		}
		return nil, err
	}
	return stdout.Bytes(), nil
}
