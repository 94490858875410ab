// Parser reads lines with expressions, evaluates them, and keeps their trees in
// an arena. The tree of a definition (name := expression) stays; that of a
// question is taken back as soon as it has its answer, by a mark: a scope inside
// the arena.
package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/haven-mem/haven/arena"
)

// The nodes of the tree are of three types; each has its own lane.
type (
	node   interface{ eval(defs) (int, error) }
	number struct{ value int }
	name   struct{ text string }
	binary struct {
		op          byte
		left, right node
	}
)

// defs are the definitions by name: a map on the heap with trees in the arena.
type defs map[string]node

var errZero = errors.New("division by zero")

func (n *number) eval(defs) (int, error) { return n.value, nil }

func (n *name) eval(d defs) (int, error) {
	def, ok := d[n.text]
	if !ok {
		return 0, fmt.Errorf("%s is not defined", n.text)
	}
	return def.eval(d)
}

func (n *binary) eval(d defs) (int, error) {
	x, err := n.left.eval(d)
	if err != nil {
		return 0, err
	}
	y, err := n.right.eval(d)
	if err != nil {
		return 0, err
	}
	switch n.op {
	case '+':
		return x + y, nil
	case '-':
		return x - y, nil
	case '*':
		return x * y, nil
	}
	if y == 0 {
		return 0, errZero
	}
	return x / y, nil
}

// A parser reads one line into nodes in a.
type parser struct {
	a    *arena.Arena
	rest string
}

func (p *parser) peek() byte {
	p.rest = strings.TrimLeft(p.rest, " ")
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

// expression parses operands joined by the operators of one level: + and -, or,
// at level 1, * and /.
func (p *parser) expression(level int) (node, error) {
	operand := p.operand
	if level == 0 {
		operand = func() (node, error) { return p.expression(1) }
	}
	left, err := operand()
	for err == nil {
		op := p.peek()
		if op == 0 || !strings.ContainsRune([]string{"+-", "*/"}[level], rune(op)) {
			return left, nil
		}
		p.rest = p.rest[1:]
		var right node
		if right, err = operand(); err == nil {
			left = arena.NewFrom(p.a, binary{op, left, right})
		}
	}
	return nil, err
}

func (p *parser) operand() (node, error) {
	c := p.peek()
	switch {
	case c == '(':
		p.rest = p.rest[1:]
		n, err := p.expression(0)
		if err == nil && p.peek() != ')' {
			return nil, errors.New("a parenthesis is not closed")
		}
		if err == nil {
			p.rest = p.rest[1:]
		}
		return n, err
	case '0' <= c && c <= '9':
		n := arena.New[number](p.a)
		for p.rest != "" && '0' <= p.rest[0] && p.rest[0] <= '9' {
			n.value = 10*n.value + int(p.rest[0]-'0')
			p.rest = p.rest[1:]
		}
		return n, nil
	case 'a' <= c && c <= 'z':
		i := 0
		for i < len(p.rest) && 'a' <= p.rest[i] && p.rest[i] <= 'z' {
			i++
		}
		n := arena.NewFrom(p.a, name{arena.String(p.a, p.rest[:i])})
		p.rest = p.rest[i:]
		return n, nil
	case c == 0:
		return nil, errors.New("the line ends where an operand should be")
	}
	return nil, fmt.Errorf("unexpected %q", c)
}

// parse reads a whole expression.
func parse(a *arena.Arena, text string) (node, error) {
	p := &parser{a, text}
	n, err := p.expression(0)
	if err == nil && p.peek() != 0 {
		err = fmt.Errorf("unexpected %q", p.rest)
	}
	return n, err
}

// answer evaluates a question and takes its tree back.
func answer(a *arena.Arena, d defs, text string) (int, error) {
	defer a.Release(a.Mark())
	n, err := parse(a, text)
	if err != nil {
		return 0, err
	}
	return n.eval(d)
}

func main() {
	a := arena.NewArena(arena.Config{Name: "calculator"})
	d := defs{}
	for _, line := range []string{
		"width := 6",
		"area := width * (width + 1)",
		"area / 2",
		"2 * (3 + 4",
		"area / (width - 6)",
		"height - 1",
	} {
		if def, text, ok := strings.Cut(line, ":="); ok {
			n, err := parse(a, text)
			if err != nil {
				fmt.Printf("%s: %v\n", line, err)
				continue
			}
			d[strings.TrimSpace(def)] = n
			continue
		}
		if v, err := answer(a, d, line); err != nil {
			fmt.Printf("%s: %v\n", line, err)
		} else {
			fmt.Printf("%s = %d\n", line, v)
		}
	}
	nodes := 0
	for _, l := range a.Stats().Lanes {
		if l.Type != "uint8" { // the text of names
			nodes += l.Count
		}
	}
	fmt.Printf("%d nodes in use, all of definitions\n", nodes)
}
