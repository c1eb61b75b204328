mock_provider "aws" {
  mock_data "aws_caller_identity" {
    defaults = { account_id = "123456789012" }
  }

  mock_data "aws_partition" {
    defaults = { partition = "aws" }
  }

  mock_data "aws_region" {
    defaults = { region = "eu-central-1" }
  }
}

variables {
  artifact_dir = "./tests/artifacts"
  bucket       = "acme-lake"
  sources = {
    shop    = { max_concurrency = 16 }
    billing = {}
  }
}

run "every_queue_hides_long_enough_and_has_a_dead_letter_queue" {
  assert {
    condition     = alltrue([for name, queue in aws_sqs_queue.this : queue.visibility_timeout_seconds >= 6 * aws_lambda_function.this[local.queues[name].function].timeout])
    error_message = "A message is shown again while its function may still be at it."
  }

  assert {
    condition     = alltrue([for name, queue in aws_sqs_queue.this : jsondecode(queue.redrive_policy).deadLetterTargetArn == aws_sqs_queue.dead_letter[name].arn])
    error_message = "A queue has no dead-letter queue of its own."
  }

  assert {
    condition     = { for name, queue in aws_sqs_queue.this : name => jsondecode(queue.redrive_policy).maxReceiveCount } == { chunk-shop = 10, chunk-billing = 10, finalize = 10, validate = 6 }
    error_message = "Receives before a message is given up: ${jsonencode({ for name, queue in aws_sqs_queue.this : name => jsondecode(queue.redrive_policy).maxReceiveCount })}"
  }

  assert {
    condition     = alltrue([for queue in values(aws_sqs_queue.dead_letter) : contains([for alarm in values(aws_cloudwatch_metric_alarm.dead_letters) : alarm.dimensions.QueueName], queue.name)])
    error_message = "A dead-letter queue has no alarm."
  }
}

run "each_source_has_a_queue_with_the_concurrency_that_it_bears" {
  assert {
    condition     = toset(keys(aws_sqs_queue.this)) == toset(["chunk-shop", "chunk-billing", "finalize", "validate"])
    error_message = "Queues: ${jsonencode(keys(aws_sqs_queue.this))}"
  }

  assert {
    condition     = one(aws_lambda_event_source_mapping.this["chunk-shop"].scaling_config).maximum_concurrency == 16 && one(aws_lambda_event_source_mapping.this["chunk-billing"].scaling_config).maximum_concurrency == 8
    error_message = "The concurrency of a source is not that of its queue."
  }

  assert {
    condition     = length(aws_lambda_event_source_mapping.this["finalize"].scaling_config) == 0
    error_message = "The finalizer reads no database."
  }

  assert {
    condition     = alltrue([for mapping in values(aws_lambda_event_source_mapping.this) : mapping.batch_size == 1 && contains(mapping.function_response_types, "ReportBatchItemFailures")])
    error_message = "A function names the messages that failed, of one."
  }
}

run "the_functions_learn_the_urls_of_the_queues_by_the_names_that_messages_use" {
  assert {
    condition     = alltrue([for function in values(aws_lambda_function.this) : jsondecode(one(function.environment).variables.LAPSTRAKE_QUEUE_URLS) == { for name, queue in aws_sqs_queue.this : name => queue.url }])
    error_message = "LAPSTRAKE_QUEUE_URLS is not the queues."
  }

  assert {
    condition     = one(aws_lambda_function.this["planner"].environment).variables.LAPSTRAKE_CHUNK_TIMEOUT == "${aws_lambda_function.this["chunk"].timeout}s"
    error_message = "Chunks would be planned for another timeout than the chunk function's."
  }
}

run "only_the_marker_rule_may_send_to_the_validator" {
  assert {
    condition     = one(jsondecode(aws_sqs_queue_policy.validate.policy).Statement).Condition.ArnEquals["aws:SourceArn"] == aws_cloudwatch_event_rule.markers.arn
    error_message = "The queue's policy lets others send."
  }

  assert {
    condition     = jsondecode(aws_cloudwatch_event_rule.markers.event_pattern).detail.object.key[0].wildcard == "*_SUCCESS"
    error_message = "The rule does not match markers."
  }
}

run "a_shorter_timeout_shortens_what_follows_from_it" {
  variables {
    timeout_seconds = 120
  }

  assert {
    condition     = alltrue([for queue in values(aws_sqs_queue.this) : queue.visibility_timeout_seconds == 720])
    error_message = "The visibility does not follow the timeout."
  }
}
