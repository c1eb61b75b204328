locals {
  widgets = [
    {
      title   = "Runs and verdicts"
      stat    = "Sum"
      metrics = [for metric in keys(local.failures) : [local.namespace, metric]]
    },
    {
      title   = "Invocations"
      stat    = "Sum"
      metrics = [for function in local.functions : ["AWS/Lambda", "Invocations", "FunctionName", "${var.name}-${function}"]]
    },
    {
      title   = "Errors"
      stat    = "Sum"
      metrics = [for function in local.functions : ["AWS/Lambda", "Errors", "FunctionName", "${var.name}-${function}"]]
    },
    {
      title   = "Longest invocation"
      stat    = "Maximum"
      metrics = [for function in local.functions : ["AWS/Lambda", "Duration", "FunctionName", "${var.name}-${function}"]]
    },
    {
      title   = "Waiting messages"
      stat    = "Maximum"
      metrics = [for name in keys(local.queues) : ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", "${var.name}-${name}"]]
    },
    {
      title   = "Dead letters"
      stat    = "Maximum"
      metrics = [for name in concat(keys(local.queues), [local.triggers]) : ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", "${var.name}-${name}-dlq"]]
    },
  ]
}

resource "aws_cloudwatch_dashboard" "this" {
  dashboard_name = var.name
  dashboard_body = jsonencode({
    widgets = [
      for i, widget in local.widgets : {
        type   = "metric"
        x      = 12 * (i % 2)
        y      = 6 * floor(i / 2)
        width  = 12
        height = 6
        properties = {
          title   = widget.title
          stat    = widget.stat
          metrics = widget.metrics
          region  = data.aws_region.current.region
          period  = 60
          view    = "timeSeries"
        }
      }
    ]
  })
}
