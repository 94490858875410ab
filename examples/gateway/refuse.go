package main

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/haven-mem/haven/examples/gateway/internal/market"
	"github.com/haven-mem/haven/examples/gateway/internal/wire"
)

// refuse answers a request that was not carried out: with 400 if it could not be
// read, 413 if it is too large, 422 if it asks for what is not possible, and 503
// if there is no room for more orders.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	var field *wire.FieldError
	switch {
	case errors.As(err, &field):
		status = http.StatusUnprocessableEntity
	case errors.Is(err, errTooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, market.ErrFull):
		status = http.StatusServiceUnavailable
	}
	respond(w, status, struct {
		Error string `json:"error"`
	}{err.Error()})
}

// respond writes v as JSON.
func respond(w http.ResponseWriter, status int, v any) {
	w.Header()["Content-Type"] = contentJSON
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
