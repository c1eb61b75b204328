package sqs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

// failure gives an SDK's error its class and code. An error of ctx stays one.
func failure(err error, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", what, err)
	}
	var gone *types.QueueDoesNotExist
	code := apiCode(err)
	switch {
	case errors.As(err, &gone) || strings.HasSuffix(code, "NonExistentQueue"):
		return fault.Wrap(err, fault.Permanent, taskqueue.CodeUnknownQueue, "%s: it does not exist: deploy it, or correct LAPSTRAKE_QUEUE_URLS", what)
	case denied(code):
		return fault.Wrap(err, fault.Permanent, taskqueue.CodeDenied, "%s: not allowed: check the function's role and the queue's key", what)
	case code == "BatchRequestTooLong", code == "InvalidMessageContents", strings.HasPrefix(code, "InvalidParameter"):
		return fault.Wrap(err, fault.Permanent, taskqueue.CodeInvalid, "%s: refused", what)
	}
	return fault.Wrap(err, fault.Retryable, taskqueue.CodeUnavailable, "%s", what)
}

func apiCode(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

func denied(code string) bool {
	switch code {
	case "AccessDenied", "AccessDeniedException", "InvalidClientTokenId", "SignatureDoesNotMatch", "UnrecognizedClientException",
		"OptInRequired", "InvalidSecurity", "KMS.AccessDeniedException", "KMS.DisabledException", "KMS.NotFoundException":
		return true
	}
	return strings.HasPrefix(code, "Kms") && code != "KmsThrottled"
}

func throttled(code string) bool {
	return strings.Contains(code, "Throttl") || strings.Contains(code, "TooManyRequests")
}
