package main

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
)

// What the types of workload types are made of.
const (
	typeCount  = 60
	typeSeed   = 60
	headerSize = 24 // typesHeader: an interface and two int32
)

// typeSizes are the sizes of the types in bytes, on machines of 64 bits: those
// that syntax trees have, most of them small. Each is that of five types.
var typeSizes = [12]int{24, 32, 40, 48, 56, 64, 72, 88, 96, 112, 128, 144}

// A field is one of a node type, after the header.
type field struct {
	name, typ string
	size      int
}

// nodeTypes returns the file with the node types, and the program that makes
// them in any order.
func nodeTypes() []byte {
	var types, program, sums bytes.Buffer
	rng := rand.New(rand.NewSource(typeSeed))
	for n := range typeCount {
		name := typeName(n)
		fmt.Fprintf(&types, "type %s struct {\ntypesHeader\n", name)
		fmt.Fprintf(&program, "case %d:\np := new(%s)\np.up, p.pos, p.kind = last, int32(i), %d\n", n, name, n)
		fmt.Fprintf(&sums, "\nfunc (p *%s) sum(h uint64) (typesNode, uint64) {\nh = p.typesHeader.add(h)\n", name)
		for _, f := range fields(rng, n) {
			fmt.Fprintf(&types, "%s %s\n", f.name, f.typ)
			switch {
			case f.typ == "string":
				fmt.Fprintf(&program, "p.%s = source[i&1023 : i&1023+1+i&15]\n", f.name)
				fmt.Fprintf(&sums, "h = addString(h, p.%s)\n", f.name)
			case f.typ == "[]typesNode":
				fmt.Fprintf(&program, "for range i & 3 {\np.%s = append(p.%s, last)\n}\n", f.name, f.name)
				fmt.Fprintf(&sums, "h = addNodes(h, p.%s)\n", f.name)
			case f.typ == "int":
				fmt.Fprintf(&program, "p.%s = i\n", f.name)
				fmt.Fprintf(&sums, "h = add(h, uint64(p.%s))\n", f.name)
			default:
				fmt.Fprintf(&program, "p.%s = seen.%s\n", f.name, f.typ[1:])
				fmt.Fprintf(&sums, "if p.%s != nil {\nh = p.%s.typesHeader.add(h)\n}\n", f.name, f.name)
			}
		}
		types.WriteString("}\n\n")
		fmt.Fprintf(&program, "last, seen.%s = p, p\n", name)
		sums.WriteString("return p.up, h\n}\n")
	}

	var out bytes.Buffer
	out.WriteString(header)
	fmt.Fprintf(&out, "// typesCount is how many types there are, of %d sizes.\nconst typesCount = %d\n\n", len(typeSizes), typeCount)
	out.Write(types.Bytes())
	out.WriteString("// typesSeen holds the latest object of each type.\ntype typesSeen struct {\n")
	for n := range typeCount {
		fmt.Fprintf(&out, "%s *%s\n", typeName(n), typeName(n))
	}
	out.WriteString("}\n\n// typesNew makes one object for each element of order, which tells its type,\n" +
		"// and returns the last.\n//\n//gen:lanes typesLanes\n" +
		"func typesNew(order []uint8, source string) typesNode {\nvar last typesNode\nvar seen typesSeen\n" +
		"for i, t := range order {\nswitch t {\n")
	out.Write(program.Bytes())
	out.WriteString("}\n}\nreturn last\n}\n")
	out.Write(sums.Bytes())
	return out.Bytes()
}

func typeName(n int) string { return fmt.Sprintf("t%02d", n) }

// fields returns random fields that bring type n to its size.
func fields(rng *rand.Rand, n int) []field {
	var fs []field
	left := typeSizes[n%len(typeSizes)] - headerSize
	for left > 0 {
		f := field{typ: "int", size: 8}
		switch k := rng.Intn(10); {
		case k < 3 && left >= 16:
			f = field{typ: "string", size: 16}
		case k < 5 && left >= 24:
			f = field{typ: "[]typesNode", size: 24}
		case k < 9:
			f = field{typ: "*" + typeName(rng.Intn(typeCount)), size: 8}
		}
		// One slice per type, as a list of statements or arguments.
		if strings.HasPrefix(f.typ, "[]") && hasSlice(fs) {
			continue
		}
		f.name = string(rune('a' + len(fs)))
		left -= f.size
		fs = append(fs, f)
	}
	return fs
}

func hasSlice(fs []field) bool {
	for _, f := range fs {
		if strings.HasPrefix(f.typ, "[]") {
			return true
		}
	}
	return false
}
