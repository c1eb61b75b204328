locals {
  queue_urls = jsonencode({ for name, queue in aws_sqs_queue.this : name => queue.url })

  stack_environment = {
    LAPSTRAKE_STACK      = var.name
    LAPSTRAKE_TABLE      = aws_dynamodb_table.state.name
    LAPSTRAKE_QUEUE_URLS = local.queue_urls
  }
  # Whom the functions tell how runs end.
  told_environment = merge(
    var.slack_webhook == null ? {} : { LAPSTRAKE_SLACK_WEBHOOK = var.slack_webhook.reference },
    var.notification_topic_arn == null ? {} : { LAPSTRAKE_SNS_TOPIC = var.notification_topic_arn },
  )

  environment = {
    planner = merge(var.environment, local.stack_environment, local.told_environment, {
      LAPSTRAKE_CHUNK_TIMEOUT = "${var.timeout_seconds}s"
      LAPSTRAKE_RUN_TTL       = "${var.run_ttl_hours}h"
    })
    chunk = merge(var.environment, local.stack_environment, {
      LAPSTRAKE_LEASE     = "${var.lease_seconds}s"
      LAPSTRAKE_HEARTBEAT = "${var.heartbeat_seconds}s"
    })
    finalizer = merge(local.stack_environment, local.told_environment)
    validator = merge({ LAPSTRAKE_STACK = var.name, LAPSTRAKE_QUEUE_URLS = local.queue_urls }, local.told_environment)
  }
}

resource "aws_cloudwatch_log_group" "this" {
  for_each = local.functions

  name              = "/aws/lambda/${var.name}-${each.key}"
  retention_in_days = var.log_retention_days
  kms_key_id        = var.kms_key_arn

  tags = var.tags
}

resource "aws_lambda_function" "this" {
  for_each = local.functions

  function_name    = "${var.name}-${each.key}"
  role             = aws_iam_role.this[each.key].arn
  runtime          = "provided.al2023"
  handler          = "bootstrap"
  architectures    = [var.architecture]
  filename         = "${var.artifact_dir}/${each.key}.zip"
  source_code_hash = filebase64sha256("${var.artifact_dir}/${each.key}.zip")
  memory_size      = var.memory_mb[each.key]
  timeout          = var.timeout_seconds
  kms_key_arn      = var.kms_key_arn
  layers           = contains(["planner", "chunk"], each.key) ? var.layer_arns : []

  environment {
    variables = local.environment[each.key]
  }

  dynamic "vpc_config" {
    for_each = var.vpc == null ? [] : [var.vpc]

    content {
      subnet_ids         = vpc_config.value.subnet_ids
      security_group_ids = vpc_config.value.security_group_ids
    }
  }

  tags = var.tags

  # Without the group Lambda would make one that keeps its events for ever,
  # without the policy it could make no network interface.
  depends_on = [aws_cloudwatch_log_group.this, aws_iam_role_policy.this]
}

# Schedules call the planner without waiting for its answer. A trigger that it
# could not take is kept: sent again, it starts nothing twice.
resource "aws_lambda_function_event_invoke_config" "planner" {
  function_name                = aws_lambda_function.this["planner"].function_name
  maximum_retry_attempts       = 2
  maximum_event_age_in_seconds = 3600

  destination_config {
    on_failure {
      destination = aws_sqs_queue.dead_letter[local.triggers].arn
    }
  }

  depends_on = [aws_iam_role_policy.this]
}
