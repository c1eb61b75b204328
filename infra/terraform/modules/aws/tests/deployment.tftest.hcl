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
  exports = {
    "public.orders" = {
      config_uri    = "s3://acme-config/rivet.yaml#0123"
      schedule      = "cron(0 2 * * ? *)"
      max_age_hours = 26
    }
    weekly = {
      export      = "public.items"
      config_uri  = "s3://acme-config/weekly.yaml"
      schedule    = "rate(7 days)"
      timezone    = "Europe/Berlin"
      on_conflict = "supersede"
      params      = { REGION = "eu" }
    }
    by_hand = { config_uri = "file:///var/task/rivet.yaml" }
  }
}

run "each_schedule_sends_a_trigger_that_names_its_own_time" {
  assert {
    condition     = toset(keys(aws_scheduler_schedule.export)) == toset(["public.orders", "weekly"])
    error_message = "An export without a schedule has none."
  }

  assert {
    condition = jsondecode(one(aws_scheduler_schedule.export["public.orders"].target).input) == {
      version        = 1
      action         = "run"
      export         = "public.orders"
      config_uri     = "s3://acme-config/rivet.yaml#0123"
      scheduled_time = "<aws.scheduler.scheduled-time>"
      on_conflict    = "reject"
    }
    error_message = "Input: ${one(aws_scheduler_schedule.export["public.orders"].target).input}"
  }

  assert {
    condition     = strcontains(one(aws_scheduler_schedule.export["weekly"].target).input, "<aws.scheduler.scheduled-time>")
    error_message = "Scheduler would not find its keyword in: ${one(aws_scheduler_schedule.export["weekly"].target).input}"
  }

  assert {
    condition     = jsondecode(one(aws_scheduler_schedule.export["weekly"].target).input).params == { REGION = "eu" } && jsondecode(one(aws_scheduler_schedule.export["weekly"].target).input).export == "public.items"
    error_message = "Input: ${one(aws_scheduler_schedule.export["weekly"].target).input}"
  }

  assert {
    condition     = alltrue([for schedule in values(aws_scheduler_schedule.export) : can(regex("^[0-9a-zA-Z_.-]{1,64}$", schedule.name))])
    error_message = "Scheduler takes no such name."
  }
}

run "the_sweep_comes_every_minute" {
  assert {
    condition     = aws_scheduler_schedule.sweep.schedule_expression == "rate(1 minute)" && jsondecode(one(aws_scheduler_schedule.sweep.target).input) == { version = 1, action = "sweep" }
    error_message = "Without the sweep a lost message is found when the queue's visibility ends."
  }
}

run "the_planner_may_read_the_configs_and_nothing_beside_them" {
  assert {
    condition     = toset(flatten([for statement in jsondecode(aws_iam_role_policy.this["planner-configs"].policy).Statement : statement.Resource if statement.Action == "s3:GetObject"])) == toset(["arn:aws:s3:::acme-config/rivet.yaml", "arn:aws:s3:::acme-config/weekly.yaml"])
    error_message = aws_iam_role_policy.this["planner-configs"].policy
  }
}

run "an_age_is_watched_where_one_is_given" {
  assert {
    condition     = keys(aws_cloudwatch_metric_alarm.age) == ["public.orders"] && aws_cloudwatch_metric_alarm.age["public.orders"].dimensions == tomap({ export = "public.orders" })
    error_message = "Alarms: ${jsonencode(keys(aws_cloudwatch_metric_alarm.age))}"
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.age["public.orders"].evaluation_periods * aws_cloudwatch_metric_alarm.age["public.orders"].period == 26 * 3600
    error_message = "The alarm looks back for another time than 26 hours."
  }
}

run "every_alarm_reaches_the_topic" {
  assert {
    condition = alltrue([
      for alarm in concat(
        values(aws_cloudwatch_metric_alarm.failure), values(aws_cloudwatch_metric_alarm.age), values(aws_cloudwatch_metric_alarm.dead_letters),
        values(aws_cloudwatch_metric_alarm.oldest_message), values(aws_cloudwatch_metric_alarm.recursion), [aws_cloudwatch_metric_alarm.planner_errors],
      ) : contains(alarm.alarm_actions, aws_sns_topic.alarms.arn)
    ])
    error_message = "An alarm tells nobody."
  }
}

run "the_table_can_be_restored_and_is_not_deleted_by_accident" {
  assert {
    condition     = aws_dynamodb_table.state.deletion_protection_enabled && one(aws_dynamodb_table.state.point_in_time_recovery).enabled && one(aws_dynamodb_table.state.ttl).attribute_name == "ttl" && aws_dynamodb_table.state.billing_mode == "PAY_PER_REQUEST"
    error_message = "The table is not what the functions rely on."
  }
}

run "the_functions_are_the_packaged_ones" {
  assert {
    condition     = alltrue([for name, function in aws_lambda_function.this : function.filename == "./tests/artifacts/${name}.zip" && function.runtime == "provided.al2023" && function.handler == "bootstrap" && function.architectures == tolist(["arm64"])])
    error_message = "A function is not made from its zip."
  }
}

run "endpoints_are_made_on_demand" {
  variables {
    vpc_endpoints = { vpc_id = "vpc-1", route_table_ids = ["rtb-1"], subnet_ids = ["subnet-1"], security_group_ids = ["sg-1"] }
  }

  assert {
    condition     = aws_vpc_endpoint.gateway["s3"].service_name == "com.amazonaws.eu-central-1.s3" && toset(keys(aws_vpc_endpoint.interface)) == toset(["sqs", "secretsmanager"])
    error_message = "Endpoints are missing."
  }
}
