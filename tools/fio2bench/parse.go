package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// document is what is used of one output of fio. Fields that may not be missing are pointers.
type document struct {
	Jobs []job `json:"jobs"`
}

type job struct {
	Name    string     `json:"jobname"`
	Group   int64      `json:"groupid"`
	Error   int64      `json:"error"` // an errno
	Read    *direction `json:"read"`
	Write   direction  `json:"write"`
	Trim    direction  `json:"trim"`
	Runtime *float64   `json:"job_runtime"` // ms, summed over the processes
	User    *float64   `json:"usr_cpu"`     // percent of Runtime
	System  *float64   `json:"sys_cpu"`     // percent of Runtime
}

type direction struct {
	IOs   int64    `json:"total_ios"`
	IOPS  *float64 `json:"iops"`     // over all processes
	Bytes *float64 `json:"bw_bytes"` // per second, over all processes
}

// decode returns the documents in data that come before an error.
func decode(data []byte) (docs []document, err error) {
	for {
		data = skipNotes(data)
		if len(data) == 0 {
			break
		}
		if data[0] != '{' {
			line, _, _ := bytes.Cut(data, []byte("\n"))
			return docs, fmt.Errorf("there is %.100q where fio's JSON should start: run fio with --output-format=json, and with --output=FILE to keep messages out of it", line)
		}
		var doc document
		dec := json.NewDecoder(bytes.NewReader(data))
		if err := dec.Decode(&doc); errors.Is(err, io.ErrUnexpectedEOF) {
			return docs, errors.New("fio's JSON ends in the middle: did fio end before it was done?")
		} else if err != nil {
			return docs, fmt.Errorf("not the JSON that fio writes, in the document's byte %d: %w", dec.InputOffset(), err)
		}
		if len(doc.Jobs) == 0 {
			return docs, errors.New("JSON without jobs: is it fio's (--output-format=json)?")
		}
		docs = append(docs, doc)
		data = data[dec.InputOffset():]
	}
	if len(docs) == 0 {
		return nil, errors.New("it is empty: fio's JSON is wanted")
	}
	return docs, nil
}

// skipNotes returns data from the first line on that is neither blank nor one of the notes that fio prints
// before its JSON.
func skipNotes(data []byte) []byte {
	for {
		data = bytes.TrimLeft(data, " \t\r\n")
		if !bytes.HasPrefix(data, []byte("note: ")) {
			return data
		}
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
}
