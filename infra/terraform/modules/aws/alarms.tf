locals {
  namespace = "Lapstrake/${var.name}"

  # The log events that end a run or a validation, as the functions write them.
  # A run is ended by the finalizer or, when that is lost, by the planner's sweep.
  events = {
    RunSucceeded     = { pattern = "{ $.msg = \"run succeeded\" }", functions = ["finalizer", "planner"] }
    RunFailed        = { pattern = "{ $.msg = \"run failed\" }", functions = ["finalizer", "planner"] }
    FenceLost        = { pattern = "{ $.msg = \"run superseded\" }", functions = ["finalizer", "planner"] }
    ValidationFailed = { pattern = "{ ($.msg = \"verdict\") && ($.verdict = \"failed\") }", functions = ["validator"] }
  }
  filters = merge([
    for metric, event in local.events : {
      for function in event.functions : "${metric}-${function}" => {
        metric   = metric
        pattern  = event.pattern
        function = function
      }
    }
  ]...)

  # How each thing that went wrong reads in the message that somebody is woken by.
  failures = {
    RunFailed        = "A run has failed: see the log event \"run failed\" of the finalizer or the planner, then `resume` it."
    FenceLost        = "A run was superseded: another one took its destination over."
    ValidationFailed = "A published prefix does not hold what its manifest promises: see the verdict object."
  }

  alarm_actions = concat([aws_sns_topic.alarms.arn], var.alarm_topic_arns)
  aged_exports  = { for name, export in var.exports : name => export if export.max_age_hours != null }
}

resource "aws_cloudwatch_log_metric_filter" "this" {
  for_each = local.filters

  name           = "${var.name}-${each.key}"
  log_group_name = aws_cloudwatch_log_group.this[each.value.function].name
  pattern        = each.value.pattern

  metric_transformation {
    namespace = local.namespace
    name      = each.value.metric
    value     = "1"
    # The age of an export's data is told apart by export. A run's id is no
    # dimension: CloudWatch keeps and bills every value.
    dimensions = each.value.metric == "RunSucceeded" ? { export = "$.export" } : null
  }
}

resource "aws_cloudwatch_metric_alarm" "failure" {
  for_each = local.failures

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value
  namespace           = local.namespace
  metric_name         = each.key
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = 0
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.alarm_actions

  tags = var.tags
}

# The cursor of an export has not moved for longer than its reader accepts.
resource "aws_cloudwatch_metric_alarm" "age" {
  for_each = local.aged_exports

  alarm_name          = "${var.name}-age-${each.key}"
  alarm_description   = "No run of ${each.key} has succeeded for ${each.value.max_age_hours} hours."
  namespace           = local.namespace
  metric_name         = "RunSucceeded"
  dimensions          = { export = coalesce(each.value.export, each.key) }
  statistic           = "Sum"
  period              = 3600
  evaluation_periods  = each.value.max_age_hours
  threshold           = 1
  comparison_operator = "LessThanThreshold"
  treat_missing_data  = "breaching"
  alarm_actions       = local.alarm_actions
  ok_actions          = local.alarm_actions

  tags = var.tags
}

resource "aws_cloudwatch_metric_alarm" "dead_letters" {
  for_each = aws_sqs_queue.dead_letter

  alarm_name          = "${each.value.name}-depth"
  alarm_description   = "Messages of ${var.name}-${each.key} were given up. Find the cause, resume the runs that failed, then: lapstrake redrive."
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = each.value.name }
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 1
  threshold           = 0
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.alarm_actions

  tags = var.tags
}

resource "aws_cloudwatch_metric_alarm" "oldest_message" {
  for_each = aws_sqs_queue.this

  alarm_name          = "${each.value.name}-age"
  alarm_description   = "A message of ${each.value.name} has waited for longer than ${var.oldest_message_seconds} s."
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateAgeOfOldestMessage"
  dimensions          = { QueueName = each.value.name }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 1
  threshold           = var.oldest_message_seconds
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.alarm_actions

  tags = var.tags
}

# Of the loops that a function can be in, a chunk that splits is the only one.
# It stops long before Lambda would: an event here is a fault of the deployment.
resource "aws_cloudwatch_metric_alarm" "recursion" {
  for_each = local.functions

  alarm_name          = "${var.name}-${each.key}-recursion"
  alarm_description   = "Lambda has stopped a loop of ${var.name}-${each.key}."
  namespace           = "AWS/Lambda"
  metric_name         = "RecursiveInvocationsDropped"
  dimensions          = { FunctionName = aws_lambda_function.this[each.key].function_name }
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 1
  threshold           = 0
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.alarm_actions

  tags = var.tags
}

resource "aws_cloudwatch_metric_alarm" "planner_errors" {
  alarm_name          = "${var.name}-planner-errors"
  alarm_description   = "The planner could not take a trigger or sweep three times in a row."
  namespace           = "AWS/Lambda"
  metric_name         = "Errors"
  dimensions          = { FunctionName = aws_lambda_function.this["planner"].function_name }
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 3
  threshold           = 0
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.alarm_actions

  tags = var.tags
}
