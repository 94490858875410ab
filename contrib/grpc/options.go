package havengrpc

import (
	"fmt"

	"github.com/haven-mem/haven/memctx"
)

// An Option sets a property of a [NewStatsHandler].
type Option struct{ apply func(*options) }

type options struct {
	parent    *memctx.Context
	rpcLimit  int
	connLimit int
}

// Parent puts the contexts below mc. Without it, or if mc is nil, they are below a
// context "grpc", which lasts while there are some. The parent must outlive the
// server: delete it when GracefulStop or Stop has returned. Handlers that
// still run keep their RPCs' memory until they return, though not that of contexts
// they made below.
func Parent(mc *memctx.Context) Option { return Option{func(o *options) { o.parent = mc }} }

// RPCLimit bounds the bytes that each RPC takes in chunks; 0, the default, means
// no bound but those above. It must not be negative.
func RPCLimit(bytes int) Option { return Option{func(o *options) { o.rpcLimit = bytes }} }

// ConnLimit bounds the bytes that each connection takes in chunks, all its RPCs
// together; 0, the default, means no bound but those above. It must not be
// negative.
func ConnLimit(bytes int) Option { return Option{func(o *options) { o.connLimit = bytes }} }

// newOptions puts options together. It panics if one does not fit.
func newOptions(list []Option) options {
	var o options
	for _, x := range list {
		if x.apply != nil { // the zero Option sets nothing
			x.apply(&o)
		}
	}
	switch {
	case o.rpcLimit < 0:
		panic(fmt.Sprintf("havengrpc: NewStatsHandler: RPCLimit(%d): want a number of bytes, 0 or more", o.rpcLimit))
	case o.connLimit < 0:
		panic(fmt.Sprintf("havengrpc: NewStatsHandler: ConnLimit(%d): want a number of bytes, 0 or more", o.connLimit))
	}
	return o
}
