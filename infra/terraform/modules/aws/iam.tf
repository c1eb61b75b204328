locals {
  # What the policies name. A list is JSON text, so that a template is a policy
  # with its resources left out.
  policy_resources = {
    table_arn           = aws_dynamodb_table.state.arn
    bucket_arn          = local.bucket_arn
    objects             = "${local.bucket_arn}/${var.prefix}"
    chunk_queue_arns    = jsonencode([for name, queue in local.queues : "${local.queue_arn_prefix}${name}" if queue.function == "chunk"])
    finalize_queue_arn  = "${local.queue_arn_prefix}finalize"
    validate_queue_arn  = "${local.queue_arn_prefix}validate"
    trigger_dead_letter = "${local.queue_arn_prefix}${local.triggers}-dlq"
    config_object_arns  = jsonencode(local.config_object_arns)
    config_bucket_arns  = jsonencode(local.config_bucket_arns)
    secret_arns         = jsonencode(local.secret_arns)
    parameter_arns      = jsonencode(local.parameter_arns)
    database_user_arns  = jsonencode(local.database_user_arns)
    webhook_arn         = try(var.slack_webhook.arn, "")
    topic_arn           = coalesce(var.notification_topic_arn, "none")
    kms_key_arn         = coalesce(var.kms_key_arn, "none")
  }

  # Which function gets which policy of the folder, besides its own.
  options = {
    configs           = length(local.configs) == 0 ? [] : ["planner"]
    quarantine        = var.allow_quarantine ? ["planner"] : []
    secrets           = length(local.secret_arns) == 0 ? [] : ["planner", "chunk"]
    parameters        = length(local.parameter_arns) == 0 ? [] : ["planner", "chunk"]
    tokens            = length(local.database_user_arns) == 0 ? [] : ["planner", "chunk"]
    webhook           = try(var.slack_webhook.arn, null) == null || local.webhook_is_parameter ? [] : ["planner", "finalizer", "validator"]
    webhook-parameter = local.webhook_is_parameter ? ["planner", "finalizer", "validator"] : []
    notifications     = var.notification_topic_arn == null ? [] : ["planner", "finalizer", "validator"]
    key               = var.kms_key_arn == null ? [] : tolist(local.functions)
    network           = var.vpc == null ? [] : tolist(local.functions)
  }
  webhook_is_parameter = startswith(try(var.slack_webhook.reference, ""), "ssm://")

  policies = merge(
    { for function in local.functions : function => { function = function, template = function } },
    { for function in local.functions : "${function}-logs" => { function = function, template = "logs" } },
    merge([
      for template, functions in local.options : {
        for function in functions : "${function}-${template}" => { function = function, template = template }
      }
    ]...),
  )
}

resource "aws_iam_role" "this" {
  for_each = local.functions

  name                 = "${var.name}-${each.key}"
  description          = "What the ${each.key} of the ${var.name} stack may do."
  permissions_boundary = var.permissions_boundary_arn

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })

  tags = var.tags
}

resource "aws_iam_role_policy" "this" {
  for_each = local.policies

  name = each.value.template
  role = aws_iam_role.this[each.value.function].id
  policy = templatefile("${path.module}/policies/${each.value.template}.json.tftpl", merge(local.policy_resources, {
    log_group_arn = aws_cloudwatch_log_group.this[each.value.function].arn
    function_arn  = "${local.arn_prefix}:lambda:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:function:${var.name}-${each.value.function}"
  }))
}

# Whoever ends a run answers the task token of its trigger. It is a policy by
# itself, which no function depends on: the state machines depend on the planner.
resource "aws_iam_role_policy" "callbacks" {
  for_each = toset(length(var.state_machine_arns) == 0 ? [] : ["planner", "finalizer"])

  name = "callbacks"
  role = aws_iam_role.this[each.key].id
  policy = templatefile("${path.module}/policies/callbacks.json.tftpl", {
    state_machine_arns = jsonencode(var.state_machine_arns)
  })
}

# The sweep tells a state machine that a run is at work.
resource "aws_iam_role_policy" "heartbeats" {
  for_each = toset(length(var.state_machine_arns) == 0 ? [] : ["planner"])

  name = "heartbeats"
  role = aws_iam_role.this[each.key].id
  policy = templatefile("${path.module}/policies/heartbeats.json.tftpl", {
    state_machine_arns = jsonencode(var.state_machine_arns)
  })
}

resource "aws_iam_role" "scheduler" {
  name                 = "${var.name}-scheduler"
  description          = "What the schedules of the ${var.name} stack may do."
  permissions_boundary = var.permissions_boundary_arn

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "scheduler.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = data.aws_caller_identity.current.account_id } }
    }]
  })

  tags = var.tags
}

resource "aws_iam_role_policy" "scheduler" {
  name = "scheduler"
  role = aws_iam_role.scheduler.id
  policy = templatefile("${path.module}/policies/scheduler.json.tftpl", {
    planner_arn         = aws_lambda_function.this["planner"].arn
    trigger_dead_letter = aws_sqs_queue.dead_letter[local.triggers].arn
  })
}

resource "aws_iam_role_policy" "scheduler_key" {
  count = var.kms_key_arn == null ? 0 : 1

  name   = "key"
  role   = aws_iam_role.scheduler.id
  policy = templatefile("${path.module}/policies/key.json.tftpl", local.policy_resources)
}

# The bucket's own word on it: whatever else the roles are given, a worker
# creates parts, never replaces one, and writes nothing else.
resource "aws_s3_bucket_policy" "create_only" {
  count = var.manage_bucket_policy ? 1 : 0

  bucket = var.bucket
  policy = local.bucket_policy
}

locals {
  bucket_policy = templatefile("${path.module}/policies/bucket.json.tftpl", {
    bucket_arn = local.bucket_arn
    objects    = "${local.bucket_arn}/${var.prefix}"
    chunk_role = aws_iam_role.this["chunk"].arn
    other_roles = jsonencode([
      for function in local.functions : aws_iam_role.this[function].arn
      if function != "chunk" && !(function == "planner" && var.allow_quarantine)
    ])
  })
}
