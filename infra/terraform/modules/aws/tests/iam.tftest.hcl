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
  prefix       = "exports/"
}

run "no_role_may_do_more_than_its_policies_say" {
  assert {
    condition     = toset(keys(aws_iam_role_policy.this)) == toset(["planner", "chunk", "finalizer", "validator", "planner-logs", "chunk-logs", "finalizer-logs", "validator-logs"])
    error_message = "Policies: ${jsonencode(keys(aws_iam_role_policy.this))}"
  }

  assert {
    condition = alltrue(flatten([
      for policy in values(aws_iam_role_policy.this) : [
        for statement in jsondecode(policy.policy).Statement : [
          for action in flatten([statement.Action]) : !strcontains(action, "*")
        ]
      ]
    ]))
    error_message = "A policy has a wildcard action."
  }

  assert {
    condition = alltrue(flatten([
      for policy in values(aws_iam_role_policy.this) : [
        for statement in jsondecode(policy.policy).Statement : [
          for resource in flatten([statement.Resource]) : resource != "*" && (!startswith(resource, "arn:aws:s3:::") || resource == "arn:aws:s3:::acme-lake" || startswith(resource, "arn:aws:s3:::acme-lake/exports/"))
        ]
      ]
    ]))
    error_message = "A policy reaches beyond the prefix of the exports."
  }
}

run "a_worker_creates_parts_and_publishes_nothing" {
  assert {
    condition = [
      for statement in jsondecode(aws_iam_role_policy.this["chunk"].policy).Statement : statement.Condition.Null["s3:if-none-match"]
      if contains(flatten([statement.Action]), "s3:PutObject")
    ] == ["false"]
    error_message = "The worker may put something without if-none-match."
  }

  assert {
    condition = alltrue(flatten([
      for statement in jsondecode(aws_iam_role_policy.this["chunk"].policy).Statement : [
        for resource in flatten([statement.Resource]) : endswith(resource, "part-*")
      ] if contains(flatten([statement.Action]), "s3:PutObject")
    ]))
    error_message = "The worker may put something that is no part."
  }

  assert {
    condition = alltrue([
      for name in ["planner", "finalizer", "validator"] : alltrue(flatten([
        for statement in jsondecode(aws_iam_role_policy.this[name].policy).Statement : [
          for resource in flatten([statement.Resource]) : !strcontains(resource, "part-")
        ] if contains(flatten([statement.Action]), "s3:PutObject")
      ]))
    ])
    error_message = "Somebody else may put parts."
  }
}

run "queues_are_named_as_they_are_created" {
  assert {
    condition = alltrue(flatten([
      for policy in values(aws_iam_role_policy.this) : [
        for statement in jsondecode(policy.policy).Statement : [
          for resource in flatten([statement.Resource]) : contains(
            [for queue in concat(values(aws_sqs_queue.this), values(aws_sqs_queue.dead_letter)) : "arn:aws:sqs:eu-central-1:123456789012:${queue.name}"], resource
          ) if startswith(resource, "arn:aws:sqs:")
        ]
      ]
    ]))
    error_message = "A policy names a queue that does not exist."
  }
}

run "the_bucket_refuses_a_worker_that_would_replace_a_part" {
  variables {
    manage_bucket_policy = true
  }

  assert {
    condition = one([
      for statement in jsondecode(one(aws_s3_bucket_policy.create_only).policy).Statement : statement
      if statement.Sid == "PartsAreCreatedOnce"
    ]).Condition == { Null = { "s3:if-none-match" = "true" } }
    error_message = "The bucket's policy does not want if-none-match."
  }
}

run "a_bucket_of_others_is_left_alone" {
  assert {
    condition     = length(aws_s3_bucket_policy.create_only) == 0 && length(aws_s3_bucket_notification.markers) == 0
    error_message = "The bucket's policy or notification would be replaced."
  }
}

run "secrets_are_of_those_who_open_the_source" {
  variables {
    sources = {
      default = {
        secret_arns        = ["arn:aws:secretsmanager:eu-central-1:123456789012:secret:shop-AbCdEf"]
        parameter_arns     = ["arn:aws:ssm:eu-central-1:123456789012:parameter/shop"]
        database_user_arns = ["arn:aws:rds-db:eu-central-1:123456789012:dbuser:cluster-ABC/reader"]
      }
    }
    slack_webhook = {
      reference = "ssm://slack"
      arn       = "arn:aws:ssm:eu-central-1:123456789012:parameter/slack"
    }
  }

  assert {
    condition = toset([for name in keys(aws_iam_role_policy.this) : name if strcontains(name, "secrets") || strcontains(name, "parameter") || strcontains(name, "tokens")]) == toset([
      "planner-secrets", "chunk-secrets", "planner-parameters", "chunk-parameters", "planner-tokens", "chunk-tokens",
      "planner-webhook-parameter", "finalizer-webhook-parameter", "validator-webhook-parameter",
    ])
    error_message = "Policies: ${jsonencode(keys(aws_iam_role_policy.this))}"
  }

  assert {
    condition     = !can(one(aws_lambda_function.this["chunk"].environment).variables.LAPSTRAKE_SLACK_WEBHOOK) && one(aws_lambda_function.this["finalizer"].environment).variables.LAPSTRAKE_SLACK_WEBHOOK == "ssm://slack"
    error_message = "The webhook is not of those who tell."
  }
}

run "a_vpc_and_a_key_bring_their_permissions" {
  variables {
    kms_key_arn = "arn:aws:kms:eu-central-1:123456789012:key/0a1b"
    vpc         = { subnet_ids = ["subnet-1"], security_group_ids = ["sg-1"] }
  }

  assert {
    condition     = alltrue([for function in local.functions : contains(keys(aws_iam_role_policy.this), "${function}-key") && contains(keys(aws_iam_role_policy.this), "${function}-network")])
    error_message = "Policies: ${jsonencode(keys(aws_iam_role_policy.this))}"
  }

  assert {
    condition     = alltrue([for queue in concat(values(aws_sqs_queue.this), values(aws_sqs_queue.dead_letter)) : queue.kms_master_key_id == var.kms_key_arn]) && one(aws_dynamodb_table.state.server_side_encryption).enabled
    error_message = "Something is not encrypted with the key."
  }
}

run "task_tokens_are_answered_for_the_machines_that_are_named" {
  variables {
    state_machine_arns = ["arn:aws:states:eu-central-1:123456789012:stateMachine:nightly"]
  }

  assert {
    condition     = toset(keys(aws_iam_role_policy.callbacks)) == toset(["planner", "finalizer"])
    error_message = "Roles: ${jsonencode(keys(aws_iam_role_policy.callbacks))}"
  }

  assert {
    condition     = keys(aws_iam_role_policy.heartbeats) == ["planner"]
    error_message = "Roles: ${jsonencode(keys(aws_iam_role_policy.heartbeats))}"
  }

  assert {
    condition     = alltrue([for policy in concat(values(aws_iam_role_policy.callbacks), values(aws_iam_role_policy.heartbeats)) : jsondecode(policy.policy).Statement[0].Resource == ["arn:aws:states:eu-central-1:123456789012:stateMachine:nightly"]])
    error_message = "A token of another machine could be answered."
  }
}

run "a_topic_is_told_by_those_who_end_runs" {
  command = plan

  variables {
    notification_topic_arn = "arn:aws:sns:eu-central-1:123456789012:runs"
  }

  assert {
    condition     = toset([for name, policy in aws_iam_role_policy.this : name if policy.name == "notifications"]) == toset(["planner-notifications", "finalizer-notifications", "validator-notifications"])
    error_message = "Policies: ${jsonencode(keys(aws_iam_role_policy.this))}"
  }

  assert {
    condition     = [for name in ["planner", "finalizer", "validator"] : aws_lambda_function.this[name].environment[0].variables.LAPSTRAKE_SNS_TOPIC] == [for i in range(3) : "arn:aws:sns:eu-central-1:123456789012:runs"]
    error_message = "Not all of the functions know the topic."
  }

  assert {
    condition     = !contains(keys(aws_lambda_function.this["chunk"].environment[0].variables), "LAPSTRAKE_SNS_TOPIC")
    error_message = "The chunk function tells nobody."
  }
}

run "a_topic_that_keeps_an_order_is_refused" {
  command = plan

  variables {
    notification_topic_arn = "arn:aws:sns:eu-central-1:123456789012:runs.fifo"
  }

  expect_failures = [var.notification_topic_arn]
}

run "a_state_machine_with_a_wildcard_is_refused" {
  command = plan

  variables {
    state_machine_arns = ["arn:aws:states:eu-central-1:123456789012:stateMachine:*"]
  }

  expect_failures = [var.state_machine_arns]
}
