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

  mock_resource "aws_sfn_state_machine" {
    defaults = { arn = "arn:aws:states:eu-central-1:123456789012:stateMachine:lapstrake-export" }
  }
}

variables {
  artifact_dir = "../../modules/aws/tests/artifacts"
  region       = "eu-central-1"
  bucket       = "acme-lake"
  sources      = { default = {} }
  exports      = { "public.orders" = "s3://acme-config/rivet.yaml" }
}

run "each_step_calls_the_planner_with_its_token_and_the_start_of_the_execution" {
  assert {
    condition = alltrue([
      for extract in [
        jsondecode(aws_sfn_state_machine.this["export"].definition).States.Extract,
        jsondecode(aws_sfn_state_machine.this["exports"].definition).States.Exports.ItemProcessor.States.Extract,
        ] : (
        extract.Resource == "arn:aws:states:::lambda:invoke.waitForTaskToken"
        && extract.Parameters.FunctionName == module.lapstrake.function_arns["planner"]
        && extract.Parameters.Payload["scheduled_time.$"] == "$$.Execution.StartTime"
        && extract.Parameters.Payload.callback["token.$"] == "$$.Task.Token"
        && extract.HeartbeatSeconds < extract.TimeoutSeconds
      )
    ])
    error_message = "A step does not wait as it should."
  }
}

run "exports_are_limited_and_gated" {
  assert {
    condition     = jsondecode(aws_sfn_state_machine.this["exports"].definition).States.Exports.MaxConcurrency == 4
    error_message = "All exports would start at once."
  }

  assert {
    condition     = jsondecode(aws_sfn_state_machine.this["export"].definition).States.Gate.Default == "TellFailure"
    error_message = "A run without a verdict would pass the gate."
  }
}

run "the_workflow_may_start_exports_and_tell_of_them_and_no_more" {
  assert {
    condition     = toset(flatten([for statement in jsondecode(aws_iam_role_policy.workflows.policy).Statement : statement.Action])) == toset(["lambda:InvokeFunction", "sns:Publish"])
    error_message = aws_iam_role_policy.workflows.policy
  }
}
