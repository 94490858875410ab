package main

func Example() {
	main()
	// Output:
	// 200 4 pieces for ann: apple pear
	// 400 plum: "two" is not a count
	// 200 2 pieces for eve: fig
	// 3 requests in 1 arena
}
