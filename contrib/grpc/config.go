package havengrpc

import (
	"github.com/haven-mem/haven/internal/config"
	"github.com/haven-mem/haven/memctx"
)

// A Config has the settings of a [NewStatsHandler]. In the zero Config all are the
// default.
type Config struct {
	// Parent is the context above those of RPCs and connections. Without one, they are
	// below a context "grpc", which lasts while there are some. The parent must outlive the
	// server: delete it when GracefulStop or Stop has returned. Handlers that still run
	// keep their RPCs' memory until they return, though not that of contexts they made
	// below.
	Parent *memctx.Context

	// RPCLimit bounds the bytes that each RPC takes in chunks. 0 means no bound but those
	// above; it must not be negative.
	RPCLimit int

	// ConnLimit bounds the bytes that each connection takes in chunks, all its RPCs
	// together. 0 means no bound but those above; it must not be negative.
	ConnLimit int
}

// configOf returns the Config that NewStatsHandler was given.
func configOf(given []Config) Config {
	c := config.Optional("havengrpc", "NewStatsHandler", given)
	config.AtLeast("havengrpc: Config.RPCLimit", c.RPCLimit, 0, "a number of bytes, 0 (no bound) or more")
	config.AtLeast("havengrpc: Config.ConnLimit", c.ConnLimit, 0, "a number of bytes, 0 (no bound) or more")
	return c
}
