// Package cost estimates what a run costs on a cloud's functions. Layer: L1
// (planning, no I/O).
//
// The arithmetic is that of docs/cost.md; the prices and speeds are those of a
// table, which a user replaces by their own.
package cost

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"math"
	"reflect"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Prices are what one of each costs, and how fast a function is.
type Prices struct {
	// Name says whose prices these are, and Currency in what.
	Name     string `json:"name"`
	Currency string `json:"currency"`

	FunctionGBSecond float64 `json:"function_gb_second"`
	FunctionRequest  float64 `json:"function_request"`
	TableWrite       float64 `json:"table_write"`
	TableRead        float64 `json:"table_read"`
	QueueRequest     float64 `json:"queue_request"`
	StoreWrite       float64 `json:"store_write"` // also a listing
	StoreRead        float64 `json:"store_read"`

	// FunctionGB is the memory of a function. BytesPerSecond of a table are
	// read and written by one chunk function, which takes SecondsPerTask
	// besides; SecondsPerRun are those of planner, finalizer and validator.
	FunctionGB     float64 `json:"function_gb"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	SecondsPerTask float64 `json:"seconds_per_task"`
	SecondsPerRun  float64 `json:"seconds_per_run"`
}

//go:embed prices.json
var listPrices []byte

// ListPrices is the table that comes with the program.
func ListPrices() (Prices, error) { return ReadPrices(listPrices) }

// ReadPrices reads a table. Each of its fields has to be there, and no other.
func ReadPrices(body []byte) (Prices, error) {
	var p Prices
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_PRICES", "the price table cannot be read")
	}
	if _, err := d.Token(); err != io.EOF {
		return p, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_PRICES", "the price table has something after its end")
	}
	v := reflect.ValueOf(p)
	for i := range v.NumField() {
		field := v.Type().Field(i).Tag.Get("json")
		if f := v.Field(i); f.IsZero() || f.CanFloat() && f.Float() < 0 {
			return p, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_PRICES", "the price table has no %s above zero", field)
		}
	}
	return p, nil
}

// Estimate is what a run is expected to take, and the sum of it.
type Estimate struct {
	Prices   string  `json:"prices"`
	Currency string  `json:"currency"`
	Seconds  float64 `json:"function_seconds"`
	// GBSeconds are those of all functions together.
	GBSeconds        float64 `json:"gb_seconds"`
	FunctionRequests int64   `json:"function_requests"`
	TableWrites      int64   `json:"table_writes"`
	TableReads       int64   `json:"table_reads"`
	QueueRequests    int64   `json:"queue_requests"`
	StoreWrites      int64   `json:"store_writes"`
	StoreReads       int64   `json:"store_reads"`
	Total            float64 `json:"total"`
}

// Requests is their number, of all kinds.
func (e Estimate) Requests() int64 {
	return e.FunctionRequests + e.TableWrites + e.TableReads + e.QueueRequests + e.StoreWrites + e.StoreReads
}

// Of estimates a run of p that is not disturbed. known is false when the
// source has told nothing of its size.
func Of(p chunkplan.Plan, prices Prices) (e Estimate, known bool) {
	if p.EstimatedBytes < 0 {
		return Estimate{}, false
	}
	tasks := int64(len(p.Tasks))
	parts := tasks
	if most := p.Export.PartBytes; most > 0 {
		parts = max(tasks, (p.EstimatedBytes+most-1)/most)
	}
	e = Estimate{
		Prices: prices.Name, Currency: prices.Currency,
		Seconds:          float64(p.EstimatedBytes)/prices.BytesPerSecond + float64(tasks)*prices.SecondsPerTask + prices.SecondsPerRun,
		FunctionRequests: tasks + functionsOfARun,
		TableWrites:      tasks*writesOfATask + writesOfARun,
		TableReads:       tasks*readsOfATask + readsOfARun,
		QueueRequests:    tasks*receiveAndDelete + (tasks+sentAtOnce-1)/sentAtOnce + controlMessages,
		StoreWrites:      parts + controlObjects,
		StoreReads:       parts*readsOfAPart + controlObjects,
	}
	e.GBSeconds = e.Seconds * prices.FunctionGB
	e.Total = e.GBSeconds*prices.FunctionGBSecond + float64(e.FunctionRequests)*prices.FunctionRequest +
		float64(e.TableWrites)*prices.TableWrite + float64(e.TableReads)*prices.TableRead +
		float64(e.QueueRequests)*prices.QueueRequest +
		float64(e.StoreWrites)*prices.StoreWrite + float64(e.StoreReads)*prices.StoreRead
	if math.IsInf(e.Total, 0) || math.IsNaN(e.Total) {
		return Estimate{}, false
	}
	return e, true
}

// What a run does besides reading and writing rows, see docs/cost.md.
const (
	functionsOfARun  = 3 // planner, finalizer, validator
	writesOfATask    = 6 // put, claim, heartbeat, complete, two additions to the fan-in
	writesOfARun     = 10
	readsOfATask     = 2
	readsOfARun      = 10
	receiveAndDelete = 2
	sentAtOnce       = 10
	controlMessages  = 6  // of finalizer and validator: sent, received, deleted
	controlObjects   = 12 // plan, record, manifests, marker, fence, summaries, verdict
	readsOfAPart     = 2  // compared when it is published, and by the validator
)
