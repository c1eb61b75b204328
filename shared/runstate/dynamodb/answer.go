package dynamodb

import (
	"errors"
	"net"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// answer is what an error says of a write.
type answer int

const (
	condition answer = iota // it did not happen: its condition does not hold
	busy                    // it did not happen; it may the next time
	hopeless                // it did not happen, and will not
	unknown                 // it may or may not have happened
)

// busyCodes are the codes of errors, and of reasons why a transaction was
// cancelled, after which nothing was changed and the same request may work.
var busyCodes = []string{
	"ProvisionedThroughputExceededException", "ProvisionedThroughputExceeded", "RequestLimitExceeded",
	"ThrottlingException", "Throttling", "ThrottlingError",
	"TransactionConflictException", "TransactionConflict", "TransactionInProgressException", "ReplicatedWriteConflictException",
}

func classify(err error) answer {
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return condition
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return classifyReasons(cancelled.CancellationReasons)
	}
	var api smithy.APIError
	if errors.As(err, &api) && slices.Contains(busyCodes, api.ErrorCode()) {
		return busy
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return busy // it was never sent
	}
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() >= 400 && response.HTTPStatusCode() < 500 {
		if api == nil {
			return busy // refused, but the connection broke before it said why
		}
		return hopeless
	}
	return unknown
}

// classifyReasons is for a transaction: all of it happens or nothing, so one
// condition that does not hold decides.
func classifyReasons(reasons []types.CancellationReason) answer {
	found := busy
	for _, r := range reasons {
		switch code := orEmpty(r.Code); {
		case code == "ConditionalCheckFailed":
			return condition
		case code != "" && code != "None" && !slices.Contains(busyCodes, code):
			found = hopeless
		}
	}
	return found
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// explain gives an error its class and code.
func explain(table, op string, err error) error {
	var api smithy.APIError
	var response *smithyhttp.ResponseError
	errors.As(err, &api)
	errors.As(err, &response)
	switch {
	case api != nil && (api.ErrorCode() == "ResourceNotFoundException" || api.ErrorCode() == "TableNotFoundException"):
		return fault.Wrap(err, fault.Permanent, "LAPSTRAKE_STATE_TABLE_MISSING", "%s: there is no table %s in this account and region", op, table)
	case api != nil && api.ErrorCode() == "AccessDeniedException", response != nil && response.HTTPStatusCode() == http.StatusForbidden:
		return fault.Wrap(err, fault.Permanent, "LAPSTRAKE_STATE_ACCESS_DENIED", "%s: this role may not use table %s in this way", op, table)
	}
	switch classify(err) {
	case busy:
		return fault.Wrap(err, fault.Retryable, "LAPSTRAKE_STATE_BUSY", "%s: table %s is busy or cannot be reached; nothing was changed", op, table)
	case hopeless:
		return fault.Wrap(err, fault.Permanent, "LAPSTRAKE_STATE_REQUEST_REFUSED", "%s: table %s refuses the request; nothing was changed", op, table)
	}
	return fault.Wrap(err, fault.Retryable, "LAPSTRAKE_STATE_UNDECIDED", "%s: table %s did not answer; the change may or may not have happened", op, table)
}
