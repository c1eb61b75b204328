# A bucket's events on the bus are one switch, but the notification document
# that has it is one as well: for a bucket of others the switch is theirs.
resource "aws_s3_bucket_notification" "markers" {
  count = var.enable_bucket_eventbridge ? 1 : 0

  bucket      = var.bucket
  eventbridge = true
}

resource "aws_cloudwatch_event_rule" "markers" {
  name        = "${var.name}-markers"
  description = "A run was published in ${var.bucket}: validate it."

  event_pattern = jsonencode({
    source        = ["aws.s3"]
    "detail-type" = ["Object Created"]
    detail = {
      bucket = { name = [var.bucket] }
      object = { key = [{ wildcard = "${var.prefix}*_SUCCESS" }] }
    }
  })

  tags = var.tags
}

resource "aws_cloudwatch_event_target" "validate" {
  rule = aws_cloudwatch_event_rule.markers.name
  arn  = aws_sqs_queue.this["validate"].arn
}

resource "aws_sqs_queue_policy" "validate" {
  queue_url = aws_sqs_queue.this["validate"].url
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "Markers"
      Effect    = "Allow"
      Principal = { Service = "events.amazonaws.com" }
      Action    = "sqs:SendMessage"
      Resource  = aws_sqs_queue.this["validate"].arn
      Condition = { ArnEquals = { "aws:SourceArn" = aws_cloudwatch_event_rule.markers.arn } }
    }]
  })
}

resource "aws_sns_topic" "alarms" {
  name              = "${var.name}-alarms"
  kms_master_key_id = var.kms_key_arn

  tags = var.tags
}

resource "aws_sns_topic_subscription" "email" {
  for_each = toset(var.alarm_emails)

  topic_arn = aws_sns_topic.alarms.arn
  protocol  = "email"
  endpoint  = each.value
}
