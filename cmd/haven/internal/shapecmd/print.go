package shapecmd

import (
	"encoding/json"
	"fmt"
	"go/types"
	"io"
	"text/tabwriter"

	"github.com/haven-mem/haven/internal/layout"
)

// The JSON form. Sizes are bytes.
type (
	jsonReport struct {
		Arch  string     `json:"arch"`
		Word  int64      `json:"word"`
		Types []jsonType `json:"types"`
	}
	jsonType struct {
		Expr        string      `json:"expr"` // as written on the command line
		Type        string      `json:"type"` // with import paths
		Size        int64       `json:"size"`
		Align       int64       `json:"align"`
		Words       int64       `json:"words"`
		Pointers    int64       `json:"pointer_words"`
		PtrBytes    int64       `json:"ptr_bytes"` // up to the end of the last pointer
		Bits        string      `json:"bits"`
		PointerFree bool        `json:"pointer_free"`
		Padding     int64       `json:"padding"`          // between and after a struct's own fields
		Sorted      int64       `json:"size_if_sorted"`   // with the fields in order of alignment
		Fields      []jsonField `json:"fields,omitempty"` // of a struct
	}
	jsonField struct {
		Name    string `json:"name"`
		Type    string `json:"type"`
		Offset  int64  `json:"offset"`
		Size    int64  `json:"size"`
		Align   int64  `json:"align"`
		Bits    string `json:"bits"`
		Padding int64  `json:"padding"` // after the field
	}
)

// report collects what is said about one type, for either form.
func report(r row) jsonType {
	n := r.node
	t := jsonType{
		Expr: r.expr, Type: r.full, Size: n.Size, Align: n.Align, Words: n.Words(), Pointers: n.Pointers,
		PtrBytes: n.PtrBytes, Bits: n.Bits(), PointerFree: n.Pointers == 0, Sorted: sortedSize(n),
	}
	for i, f := range n.Fields {
		end := n.Size
		if i+1 < len(n.Fields) {
			end = n.Fields[i+1].Offset
		}
		padding := end - f.Offset - f.Node.Size
		t.Padding += padding
		t.Fields = append(t.Fields, jsonField{
			Name: f.Name, Type: f.Node.Name, Offset: f.Offset, Size: f.Node.Size,
			Align: f.Node.Align, Bits: f.Node.Bits(), Padding: padding,
		})
	}
	return t
}

// sortedSize returns the size that a struct would have with its fields in
// falling order of alignment, which wastes least: as sizes are multiples of
// alignments, only the end is padded. Fields without size come first, since
// the compiler pads behind one that is last.
func sortedSize(n *layout.Node) int64 {
	if len(n.Fields) == 0 {
		return n.Size
	}
	size := int64(0)
	sized := false
	for _, f := range n.Fields {
		size += f.Node.Size
		sized = sized || f.Node.Size > 0
	}
	if !sized {
		return n.Size
	}
	return (size + n.Align - 1) / n.Align * n.Align
}

func write(w io.Writer, opts options, rows []row) error {
	if opts.json {
		out := jsonReport{Arch: opts.arch, Word: opts.sizes.Sizeof(types.Typ[types.Uintptr]), Types: []jsonType{}}
		for _, r := range rows {
			out.Types = append(out.Types, report(r))
		}
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(out)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "TYPE\tSIZE\tALIGN\tPOINTERS\tBITS\tGC")
	for _, r := range rows {
		t := report(r)
		verdict := "pointer-free"
		if !t.PointerFree {
			verdict = fmt.Sprintf("scans %d of %d bytes", t.PtrBytes, t.Size)
		}
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d of %d\t%s\t%s\n", shorten(t.Expr), t.Size, t.Align, t.Pointers, t.Words, t.Bits, verdict)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if !opts.fields && len(rows) > 1 {
		return nil
	}
	for _, r := range rows {
		if t := report(r); len(t.Fields) > 0 {
			if err := writeFields(w, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeFields(w io.Writer, t jsonType) error {
	fmt.Fprintf(w, "\n%s\n", shorten(t.Expr))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "  OFFSET\tSIZE\tFIELD\tTYPE\tBITS")
	for _, f := range t.Fields {
		fmt.Fprintf(tw, "  %d\t%d\t%s\t%s\t%s\n", f.Offset, f.Size, f.Name, shorten(f.Type), f.Bits)
		if f.Padding > 0 {
			fmt.Fprintf(tw, "  %d\t%d\t(padding)\t\t\n", f.Offset+f.Size, f.Padding)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if t.Padding > 0 {
		advice := "no order of the fields is smaller"
		if t.Sorted < t.Size {
			advice = fmt.Sprintf("%d bytes with the fields in falling order of alignment", t.Sorted)
		}
		_, err := fmt.Fprintf(w, "  padding: %d of %d bytes; %s\n", t.Padding, t.Size, advice)
		return err
	}
	return nil
}

// shorten keeps long type expressions from widening the table.
func shorten(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
