package s3

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// answer is what an attempt has come to.
type answer int

const (
	done      answer = iota
	lost             // 412: a precondition does not hold
	missing          // 404: no such key
	conflict         // 409: nothing was decided, the same request may be sent again
	busy             // 503 and the like: the request is welcome later
	expired          // the credentials have ended
	unsent           // no connection: the store never saw the request
	refused          // the store says no, and did nothing
	undecided        // anything else: the request may have been carried out
)

// meaning is an answer and the cause to report for it.
type meaning struct {
	answer answer
	cause  error
}

var codes = map[string]meaning{
	"PreconditionFailed":         {lost, nil},
	"NoSuchKey":                  {missing, destination.ErrNotFound},
	"NotFound":                   {missing, destination.ErrNotFound},
	"ConditionalRequestConflict": {conflict, nil},
	"OperationAborted":           {conflict, nil},
	"ExpiredToken":               {expired, destination.ErrDenied},
	"TokenRefreshRequired":       {expired, destination.ErrDenied},

	"SlowDown":             {busy, destination.ErrUnavailable},
	"ServiceUnavailable":   {busy, destination.ErrUnavailable},
	"RequestLimitExceeded": {busy, destination.ErrUnavailable},
	"TooManyRequests":      {busy, destination.ErrUnavailable},
	"Throttling":           {busy, destination.ErrUnavailable},
	"ThrottlingException":  {busy, destination.ErrUnavailable},
	"RequestTimeout":       {busy, destination.ErrUnavailable}, // 400: the body did not arrive in time

	"NoSuchBucket":      {refused, destination.ErrNoBucket},
	"InvalidBucketName": {refused, destination.ErrNoBucket},

	"AccessDenied":          {refused, destination.ErrDenied},
	"AllAccessDisabled":     {refused, destination.ErrDenied},
	"InvalidAccessKeyId":    {refused, destination.ErrDenied},
	"InvalidToken":          {refused, destination.ErrDenied},
	"SignatureDoesNotMatch": {refused, destination.ErrDenied},
	"RequestTimeTooSkewed":  {refused, destination.ErrDenied}, // this machine's clock is wrong

	"BadDigest":                    {refused, destination.ErrCorrupted},
	"IncompleteBody":               {refused, destination.ErrCorrupted},
	"XAmzContentSHA256Mismatch":    {refused, destination.ErrCorrupted},
	"XAmzContentChecksumMismatch":  {refused, destination.ErrCorrupted},
	"InvalidDigest":                {refused, destination.ErrInvalid},
	"KeyTooLongError":              {refused, destination.ErrInvalid},
	"KeyTooLong":                   {refused, destination.ErrInvalid},
	"MetadataTooLarge":             {refused, destination.ErrInvalid},
	"NotImplemented":               {refused, destination.ErrNotSupported},
	"MethodNotAllowed":             {refused, destination.ErrNotSupported},
	"EntityTooLarge":               {refused, destination.ErrNotSupported},
	"QuotaExceeded":                {refused, destination.ErrFull},
	"InsufficientStorage":          {refused, destination.ErrFull},
	"PermanentRedirect":            {refused, errRegion},
	"TemporaryRedirect":            {refused, errRegion},
	"AuthorizationHeaderMalformed": {refused, errRegion},
}

var statuses = map[int]meaning{
	301: {refused, errRegion},
	307: {refused, errRegion},
	401: {refused, destination.ErrDenied},
	403: {refused, destination.ErrDenied},
	404: {missing, destination.ErrNotFound},
	405: {refused, destination.ErrNotSupported},
	408: {busy, destination.ErrUnavailable},
	409: {conflict, nil},
	412: {lost, nil},
	429: {busy, destination.ErrUnavailable},
	501: {refused, destination.ErrNotSupported},
	503: {busy, destination.ErrUnavailable},
	507: {refused, destination.ErrFull},
}

var errRegion = fault.New(fault.Permanent, "LAPSTRAKE_DEST_WRONG_REGION", "the bucket is in another region than the one that is set")

// judge says what the error of an attempt means, and adds its cause to it.
func judge(err error) (answer, error) {
	if err == nil {
		return done, nil
	}
	var response *smithyhttp.ResponseError
	var send *smithyhttp.RequestSendError
	var network *net.OpError
	m := meaning{undecided, destination.ErrUnavailable}
	switch {
	case errors.As(err, new(passing)):
		if errors.Is(err, destination.ErrCorrupted) {
			m.cause = nil
		}
	case errors.As(err, &network) && network.Op == "dial":
		m.answer = unsent
	case errors.As(err, &response) && response.HTTPStatusCode() != 0:
		m = meaningOf(err, response.HTTPStatusCode())
	case errors.As(err, &send):
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	default: // it failed before there was a request
		m = meaning{refused, nil}
	}
	if m.cause != nil {
		err = fmt.Errorf("%w: %w", m.cause, err)
	}
	return m.answer, err
}

// meaningOf finds the meaning of an HTTP answer: by its code, else by its status.
func meaningOf(err error, status int) meaning {
	var api smithy.APIError
	if errors.As(err, &api) {
		if m, known := codes[api.ErrorCode()]; known {
			return m
		}
	}
	if m, known := statuses[status]; known {
		return m
	}
	if status >= 400 && status < 500 {
		return meaning{refused, errRefused}
	}
	return meaning{undecided, destination.ErrUnavailable}
}

// passing is a failure of ours to take an answer in, which may pass.
type passing struct{ error }

func (p passing) Unwrap() error { return p.error }

var errRefused = fault.New(fault.Permanent, "LAPSTRAKE_DEST_REFUSED", "the store refuses the request")
