package debugpage_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/haven-mem/haven/debugpage"
)

func ExampleRegister() {
	debug := http.NewServeMux() // one for the inside, not the one the world sees
	debugpage.Register(debug)
	// A program has, instead of this server:
	//	go http.ListenAndServe("localhost:6060", debug)
	server := httptest.NewServer(debug)
	defer server.Close()

	answer, err := http.Get(server.URL + "/debug/haven/")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	fmt.Println(answer.StatusCode, answer.Header.Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}

func ExampleHandler() {
	mux := http.NewServeMux()
	mux.Handle("/internal/memory/", http.StripPrefix("/internal/memory", debugpage.Handler()))
	server := httptest.NewServer(mux)
	defer server.Close()

	answer, err := http.Get(server.URL + "/internal/memory/stats.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	var s debugpage.Stats
	if err := json.NewDecoder(answer.Body).Decode(&s); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Format)
	// Output: haven/1
}
