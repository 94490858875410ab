package market

import "fmt"

// Collar is how many ticks the price of an order may be away from the reference
// price of its symbol. It bounds the levels of a book, whatever clients send.
const Collar = 250

// How large the directory is that the gateway and its load generator share.
const (
	Symbols  = 200
	Accounts = 1000
)

// A Symbol is what is traded in one book.
type Symbol struct {
	Name      string
	Reference int64 // price in ticks
}

// A Directory knows the symbols and accounts. It does not change, and any number
// of goroutines may use it.
type Directory struct {
	Symbols  []Symbol
	Accounts []string

	symbols  map[string]uint16
	accounts map[string]uint32
}

// NewDirectory returns a directory of symbols HVN000, HVN001, … with a reference
// price of 10,000 ticks and of accounts acct-0000, acct-0001, …. It panics if
// there are more symbols than an instruction can number.
func NewDirectory(symbols, accounts int) *Directory {
	if symbols > 1<<16 {
		panic(fmt.Sprintf("market: NewDirectory: %d symbols, at most %d", symbols, 1<<16))
	}
	d := &Directory{symbols: map[string]uint16{}, accounts: map[string]uint32{}}
	for i := range symbols {
		name := fmt.Sprintf("HVN%03d", i)
		d.Symbols = append(d.Symbols, Symbol{name, 10_000})
		d.symbols[name] = uint16(i)
	}
	for i := range accounts {
		name := fmt.Sprintf("acct-%04d", i)
		d.Accounts = append(d.Accounts, name)
		d.accounts[name] = uint32(i)
	}
	return d
}

// Symbol returns the number of a symbol, and whether there is one of this name.
func (d *Directory) Symbol(name string) (uint16, bool) {
	n, ok := d.symbols[name]
	return n, ok
}

// Account returns the number of an account, and whether there is one of this
// name.
func (d *Directory) Account(name string) (uint32, bool) {
	n, ok := d.accounts[name]
	return n, ok
}
