locals {
  # The queues by the names that messages use. A chunk queue belongs to one
  # source database: its concurrency is the number of connections that the
  # database has to bear.
  queues = merge(
    {
      for name, source in var.sources : "chunk-${name}" => {
        function        = "chunk"
        max_receives    = 10
        max_concurrency = source.max_concurrency
      }
    },
    {
      finalize = {
        function        = "finalizer"
        max_receives    = 10
        max_concurrency = null
      }
      # This bounds how long a prefix that does not settle is looked at.
      validate = {
        function        = "validator"
        max_receives    = 6
        max_concurrency = null
      }
    },
  )

  # Lambda wants at least the function's timeout and advises six times that.
  visibility_seconds = 6 * var.timeout_seconds

  # Triggers that the planner could not take have a dead-letter queue and no queue.
  triggers = "triggers"
}

resource "aws_sqs_queue" "dead_letter" {
  for_each = setunion(keys(local.queues), [local.triggers])

  name                      = "${var.name}-${each.key}-dlq"
  message_retention_seconds = 1209600 # 14 days, the longest there is
  sqs_managed_sse_enabled   = var.kms_key_arn == null ? true : null
  kms_master_key_id         = var.kms_key_arn

  tags = var.tags
}

resource "aws_sqs_queue" "this" {
  for_each = local.queues

  name                       = "${var.name}-${each.key}"
  visibility_timeout_seconds = local.visibility_seconds
  message_retention_seconds  = 1209600
  sqs_managed_sse_enabled    = var.kms_key_arn == null ? true : null
  kms_master_key_id          = var.kms_key_arn

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead_letter[each.key].arn
    maxReceiveCount     = each.value.max_receives
  })

  tags = var.tags
}

resource "aws_sqs_queue_redrive_allow_policy" "dead_letter" {
  for_each = local.queues

  queue_url = aws_sqs_queue.dead_letter[each.key].url
  redrive_allow_policy = jsonencode({
    redrivePermission = "byQueue"
    sourceQueueArns   = [aws_sqs_queue.this[each.key].arn]
  })
}

# One message a call, and the function names those that failed.
resource "aws_lambda_event_source_mapping" "this" {
  for_each = local.queues

  event_source_arn        = aws_sqs_queue.this[each.key].arn
  function_name           = aws_lambda_function.this[each.value.function].arn
  batch_size              = 1
  function_response_types = ["ReportBatchItemFailures"]

  dynamic "scaling_config" {
    for_each = each.value.max_concurrency == null ? [] : [each.value.max_concurrency]

    content {
      maximum_concurrency = scaling_config.value
    }
  }

  tags = var.tags

  # Lambda looks at the permissions when the mapping is made.
  depends_on = [aws_iam_role_policy.this]
}
