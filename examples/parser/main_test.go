package main

func Example() {
	main()
	// Output:
	// area / 2 = 21
	// 2 * (3 + 4: a parenthesis is not closed
	// area / (width - 6): division by zero
	// height - 1: height is not defined
	// 6 nodes in use, all of definitions
}
