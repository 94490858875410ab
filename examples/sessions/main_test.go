package main

func Example() {
	main()
	// Output:
	// eve is refused: 2 sessions are open
	// ada said be 3 times in 2 requests
	// eve has a map of 0 words
	// buffers kept: true
}
