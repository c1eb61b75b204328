# Exports as steps of a workflow: a state machine waits until an export has
# ended and goes on only when its verdict is good.

provider "aws" {
  region = var.region

  default_tags {
    tags = { application = var.name }
  }
}

module "lapstrake" {
  source = "../../modules/aws"

  name         = var.name
  artifact_dir = var.artifact_dir
  bucket       = var.bucket
  prefix       = var.prefix

  sources     = var.sources
  environment = var.environment
  exports     = { for name, config_uri in var.exports : name => { config_uri = config_uri } }

  vpc          = var.vpc
  alarm_emails = var.alarm_emails

  state_machine_arns = [for machine in aws_sfn_state_machine.this : machine.arn]
}

# What was published and verified: loaders subscribe to it.
resource "aws_sns_topic" "published" {
  name = "${var.name}-published"
}

locals {
  # export: one export. exports: several, four at a time.
  state_machines = toset(["export", "exports"])
}

resource "aws_sfn_state_machine" "this" {
  for_each = local.state_machines

  name     = "${var.name}-${each.key}"
  type     = "STANDARD"
  role_arn = aws_iam_role.workflows.arn
  definition = templatefile("${path.module}/${each.key}.asl.json", {
    planner_arn         = module.lapstrake.function_arns["planner"]
    alarm_topic_arn     = module.lapstrake.alarm_topic_arn
    published_topic_arn = aws_sns_topic.published.arn
  })

  depends_on = [aws_iam_role_policy.workflows]
}

data "aws_caller_identity" "current" {}

resource "aws_iam_role" "workflows" {
  name        = "${var.name}-workflows"
  description = "What the state machines of ${var.name} may do."

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "states.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = data.aws_caller_identity.current.account_id } }
    }]
  })
}

resource "aws_iam_role_policy" "workflows" {
  name = "workflows"
  role = aws_iam_role.workflows.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "Planner"
        Effect   = "Allow"
        Action   = "lambda:InvokeFunction"
        Resource = module.lapstrake.function_arns["planner"]
      },
      {
        Sid      = "Topics"
        Effect   = "Allow"
        Action   = "sns:Publish"
        Resource = [aws_sns_topic.published.arn, module.lapstrake.alarm_topic_arn]
      },
    ]
  })
}

# What starts the workflow every night; the schedules of the module are unused.
resource "aws_scheduler_schedule" "nightly" {
  count = var.schedule == null ? 0 : 1

  name       = "nightly"
  group_name = module.lapstrake.schedule_group_name

  schedule_expression          = var.schedule
  schedule_expression_timezone = var.timezone

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn      = aws_sfn_state_machine.this["exports"].arn
    role_arn = aws_iam_role.nightly.arn
    input    = jsonencode({ exports = [for name, config_uri in var.exports : { export = name, config_uri = config_uri }] })
  }
}

resource "aws_iam_role" "nightly" {
  name        = "${var.name}-nightly"
  description = "What the schedule of the workflow may do."

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "scheduler.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = data.aws_caller_identity.current.account_id } }
    }]
  })
}

resource "aws_iam_role_policy" "nightly" {
  name = "start"
  role = aws_iam_role.nightly.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "Start"
      Effect   = "Allow"
      Action   = "states:StartExecution"
      Resource = aws_sfn_state_machine.this["exports"].arn
    }]
  })
}
