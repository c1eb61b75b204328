locals {
  # What the functions count themselves, by the dimensions that they write.
  counted = {
    chunk = ["stack", var.name, "function", "${var.name}-chunk"]
  }

  widgets = [
    {
      title   = "Runs and verdicts"
      stat    = "Sum"
      metrics = [for metric in keys(local.failures) : [local.namespace, metric]]
    },
    {
      title   = "Rows and bytes delivered"
      stat    = "Sum"
      metrics = [for metric in ["RowsRead", "PartBytes"] : concat(["Lapstrake", metric], local.counted.chunk)]
    },
    {
      title   = "Attempts, and what became of them"
      stat    = "Sum"
      metrics = [for metric in ["Attempts", "Splits", "HandOffs", "ZombieWrites"] : concat(["Lapstrake", metric], local.counted.chunk)]
    },
    {
      title   = "Longest chunk"
      stat    = "Maximum"
      metrics = [for metric in ["ChunkSeconds"] : concat(["Lapstrake", metric], local.counted.chunk)]
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
