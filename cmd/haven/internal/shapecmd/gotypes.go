package shapecmd

import (
	"errors"
	"fmt"
	"go/types"

	"github.com/haven-mem/haven/internal/layout"
)

// builder makes layouts of go/types types for one architecture.
type builder struct {
	sizes types.Sizes
	word  int64
	arch  string
	nodes map[types.Type]*layout.Node
}

// node lays out t. It fails for types that no value can have.
func (b *builder) node(t types.Type) (*layout.Node, error) {
	t = types.Unalias(t)
	if n := b.nodes[t]; n != nil {
		return n, nil
	}
	n, err := b.build(t)
	if err != nil {
		return nil, err
	}
	// The compiler's limits: a 32-bit machine's address space, 2^50 bytes.
	limit := int64(1) << 50
	if b.word == 4 {
		limit = 1<<31 - 1
	}
	if n.Size < 0 || n.Size > limit {
		return nil, fmt.Errorf("%s is too large for %s; accepted: up to %d bytes", n.Name, b.arch, limit)
	}
	if b.nodes == nil {
		b.nodes = make(map[types.Type]*layout.Node)
	}
	b.nodes[t] = n
	return n, nil
}

func (b *builder) build(t types.Type) (*layout.Node, error) {
	name := types.TypeString(t, func(p *types.Package) string { return p.Name() })
	leaf := func(mask string) (*layout.Node, error) {
		return layout.Leaf(name, b.sizes.Sizeof(t), b.sizes.Alignof(t), b.word, mask), nil
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Kind() == types.Invalid:
			return nil, errors.New("a type inside cannot be resolved: its package has errors or is incomplete")
		case u.Kind() == types.UnsafePointer:
			return leaf(layout.Pointer)
		case u.Info()&types.IsString != 0:
			return leaf(layout.String)
		}
		return leaf(layout.Scalar)
	case *types.Pointer:
		if notInHeap(u.Elem()) {
			return leaf(layout.Scalar)
		}
		return leaf(layout.Pointer)
	case *types.Slice:
		if notInHeap(u.Elem()) {
			return leaf(layout.Scalar)
		}
		return leaf(layout.Slice)
	case *types.Map, *types.Chan, *types.Signature:
		return leaf(layout.Pointer)
	case *types.Interface:
		if !u.IsMethodSet() {
			return nil, fmt.Errorf("%s is a constraint, no value has this type; accepted: types of values", name)
		}
		return leaf(layout.Interface)
	case *types.Array:
		elem, err := b.node(u.Elem())
		if err != nil {
			return nil, err
		}
		if elem.Size > 0 && u.Len() > (1<<62)/elem.Size {
			return nil, fmt.Errorf("%s is too large for any address space", name)
		}
		return layout.Array(name, u.Len(), elem), nil
	case *types.Struct:
		vars := make([]*types.Var, u.NumFields())
		fields := make([]layout.Field, len(vars))
		for i := range vars {
			vars[i] = u.Field(i)
			n, err := b.node(vars[i].Type())
			if err != nil {
				return nil, err
			}
			fields[i] = layout.Field{Name: vars[i].Name(), Node: n}
		}
		for i, offset := range b.sizes.Offsetsof(vars) {
			fields[i].Offset = offset
		}
		return layout.Struct(name, b.sizes.Sizeof(t), b.sizes.Alignof(t), b.word, fields), nil
	}
	return nil, fmt.Errorf("%s has no layout", name)
}

// notInHeap tells types that are never in the collected heap; see
// layout.NotInHeapName.
func notInHeap(t types.Type) bool {
	if named, ok := types.Unalias(t).(*types.Named); ok {
		o := named.Obj()
		if o.Name() == layout.NotInHeapName && o.Pkg() != nil && o.Pkg().Path() == layout.NotInHeapPackage {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return notInHeap(u.Elem())
	case *types.Struct:
		for i := range u.NumFields() {
			if notInHeap(u.Field(i).Type()) {
				return true
			}
		}
	}
	return false
}
