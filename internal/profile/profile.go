// Package profile writes files that go tool pprof and other viewers of profiles
// open, of stacks that are made up: what is counted need not be a program's
// functions. It writes only what such a profile needs. It is not for samples of
// code, which have addresses and lines.
//
// The format is Google's profile.proto, compressed by gzip. A profile is a few
// tables of numbered messages, which is why its protocol buffers are written by
// hand here: see message.
package profile

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Type says what one of the values of a sample is.
type Type struct {
	Name string // as of pprof's option -sample_index
	Unit string // pprof scales "bytes" and leaves "count" as it is
}

// The numbers of the fields of the messages in profile.proto.
const (
	profileSampleType        = 1
	profileSample            = 2
	profileMapping           = 3
	profileLocation          = 4
	profileFunction          = 5
	profileString            = 6
	profileTimeNanos         = 9
	profileDefaultSampleType = 14

	typeName, typeUnit                        = 1, 2
	sampleLocation, sampleValue               = 1, 2
	mappingID, mappingFile                    = 1, 5
	mappingFunctions, mappingFiles            = 7, 8
	mappingLines, mappingInline               = 9, 10
	locationID, locationMapping, locationLine = 1, 2, 4
	lineFunction, functionID, functionName    = 1, 1, 2
)

// A Writer writes a profile, sample by sample. It is for one goroutine at a time.
// It keeps the distinct frames, not the samples.
type Writer struct {
	zip       *gzip.Writer
	err       error // the first
	strings   map[string]int64
	locations map[string]uint64
	types     int
	ids       []uint64
	out       message // what is written next, used again
	part      message // a message in it
	line      message // a message in that
}

// NewWriter returns a writer to w of a profile taken at the given time, whose
// samples have a value of each type. Viewers show the last type unless they are
// told another. The file goes into pprof's report as the name of the program.
func NewWriter(w io.Writer, at time.Time, file string, types ...Type) *Writer {
	p := &Writer{
		zip:       gzip.NewWriter(w),
		strings:   map[string]int64{},
		locations: map[string]uint64{},
		types:     len(types),
	}
	p.text("") // the table of strings begins with this one
	for _, t := range types {
		p.part = p.part[:0]
		p.part.varint(typeName, uint64(p.text(t.Name)))
		p.part.varint(typeUnit, uint64(p.text(t.Unit)))
		addBytes(&p.out, profileSampleType, p.part)
	}
	// The mapping says that there is nothing left to look up, for otherwise pprof
	// looks for the program's file.
	p.part = p.part[:0]
	p.part.varint(mappingID, 1)
	p.part.varint(mappingFile, uint64(p.text(file)))
	for _, has := range []int{mappingFunctions, mappingFiles, mappingLines, mappingInline} {
		p.part.varint(has, 1)
	}
	addBytes(&p.out, profileMapping, p.part)
	p.out.varint(profileTimeNanos, uint64(at.UnixNano()))
	if len(types) > 0 {
		p.out.varint(profileDefaultSampleType, uint64(p.text(types[len(types)-1].Name)))
	}
	p.flush()
	return p
}

// Sample writes the values of a stack of frames, the outermost first. Frames are
// known by their names; bytes that are not UTF-8, which the format cannot have,
// are replaced. Sample panics unless there are as many values as types.
func (p *Writer) Sample(stack []string, values ...int64) {
	if len(values) != p.types {
		panic(fmt.Sprintf("profile: a sample with %d values, want one for each of %d types", len(values), p.types))
	}
	p.ids = p.ids[:0]
	for i := len(stack) - 1; i >= 0; i-- {
		p.ids = append(p.ids, p.location(stack[i]))
	}
	p.part = p.part[:0]
	packed(&p.part, &p.line, sampleLocation, p.ids)
	packed(&p.part, &p.line, sampleValue, values)
	addBytes(&p.out, profileSample, p.part)
	p.flush()
}

// Close writes what is left and returns the first error of w. It does not close w.
func (p *Writer) Close() error {
	p.flush()
	if err := p.zip.Close(); p.err == nil {
		p.err = err
	}
	return p.err
}

// flush hands on what is in p.out.
func (p *Writer) flush() {
	if p.err == nil {
		_, p.err = p.zip.Write(p.out)
	}
	p.out = p.out[:0]
}

// location returns the number of a frame's location, which it writes if it is
// the first of its name, together with the function there, of the same number.
// The function has no system name, for else pprof may take its name for one of
// C++ and show less of it.
func (p *Writer) location(name string) uint64 {
	name = strings.ToValidUTF8(name, "\uFFFD")
	id := p.locations[name]
	if id != 0 {
		return id
	}
	id = uint64(len(p.locations) + 1)
	p.locations[name] = id
	p.part = p.part[:0]
	p.part.varint(functionID, id)
	p.part.varint(functionName, uint64(p.text(name)))
	addBytes(&p.out, profileFunction, p.part)
	p.line = p.line[:0]
	p.line.varint(lineFunction, id)
	p.part = p.part[:0]
	p.part.varint(locationID, id)
	p.part.varint(locationMapping, 1)
	addBytes(&p.part, locationLine, p.line)
	addBytes(&p.out, profileLocation, p.part)
	return id
}

// text returns the number of a string in the table of strings, and writes it if
// it is new.
func (p *Writer) text(s string) int64 {
	i, ok := p.strings[s]
	if !ok {
		i = int64(len(p.strings))
		p.strings[s] = i
		addBytes(&p.out, profileString, s)
	}
	return i
}
