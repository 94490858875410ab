// Package wire is the format of the gateway's requests and replies: batches of
// instructions and their results, in JSON.
//
// [Parse] reads a request into messages, whose fields are strings and numbers as
// they were sent; [Translate] looks at what they say and makes instructions of
// them; [AppendResults] writes the reply. What they make is in the arena that
// they are given, and on Go's heap if that is nil: the same code serves both.
// The decoder is written for this format, as a generator of decoders would write
// it, with a new string for each that was sent.
//
// A request is an object with a list of instructions:
//
//	{"orders": [
//	  {"op": "new", "account": "acct-0001", "ref": "my-17", "symbol": "HVN003",
//	   "side": "buy", "tif": "gtc", "price": 9990, "quantity": 25},
//	  {"op": "cancel", "account": "acct-0001", "id": "00000000000f4240"}
//	]}
//
// The price is in ticks and the quantity in lots, both whole numbers. The time in
// force is "gtc", good till cancelled, or "ioc", immediate or cancel. An id has 16
// hexadecimal digits. All fields are required, in any order, once each.
package wire
