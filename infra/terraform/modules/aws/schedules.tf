locals {
  schedules = { for name, export in var.exports : name => export if export.schedule != null }

  trigger = {
    for name, export in local.schedules : name => merge(
      {
        version    = 1
        action     = "run"
        export     = coalesce(export.export, name)
        config_uri = export.config_uri
        # The schedule's own time names the run: a trigger that is delivered
        # twice starts one run.
        scheduled_time = "<aws.scheduler.scheduled-time>"
        on_conflict    = export.on_conflict
      },
      length(export.params) == 0 ? {} : { params = export.params },
    )
  }
}

resource "aws_scheduler_schedule_group" "this" {
  name = var.name

  tags = var.tags
}

resource "aws_scheduler_schedule" "export" {
  for_each = local.schedules

  # The name of an export may have characters that the name of a schedule may not.
  name       = "${substr(replace(each.key, "/[^A-Za-z0-9_.-]/", "-"), 0, 55)}-${substr(sha256(each.key), 0, 8)}"
  group_name = aws_scheduler_schedule_group.this.name
  state      = each.value.enabled ? "ENABLED" : "DISABLED"

  schedule_expression          = each.value.schedule
  schedule_expression_timezone = each.value.timezone

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn      = aws_lambda_function.this["planner"].arn
    role_arn = aws_iam_role.scheduler.arn
    # Scheduler wants its keyword as it is: HTML-safe JSON has other signs for < and >.
    input = replace(replace(jsonencode(local.trigger[each.key]), "\\u003c", "<"), "\\u003e", ">")

    retry_policy {
      maximum_event_age_in_seconds = 3600
      maximum_retry_attempts       = 10
    }

    dead_letter_config {
      arn = aws_sqs_queue.dead_letter[local.triggers].arn
    }
  }
}

# The reaper: finds lost messages and killed workers, and sends their work again.
resource "aws_scheduler_schedule" "sweep" {
  name       = "sweep"
  group_name = aws_scheduler_schedule_group.this.name

  schedule_expression = "rate(1 minute)"

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn      = aws_lambda_function.this["planner"].arn
    role_arn = aws_iam_role.scheduler.arn
    input    = jsonencode({ version = 1, action = "sweep" })

    # The next one comes in a minute.
    retry_policy {
      maximum_event_age_in_seconds = 60
      maximum_retry_attempts       = 0
    }
  }
}
