package memctx

import (
	"context"
)

func NewContext(ctx context.Context, mc *Context) context.Context { panic("stub") }
func FromContext(ctx context.Context) *Context                    { panic("stub") }
