output "function_arns" {
  description = "ARN of each function, by planner, chunk, finalizer and validator."
  value       = { for name, function in aws_lambda_function.this : name => function.arn }
}

output "planner_name" {
  description = "Name of the planner, for `aws lambda invoke`."
  value       = aws_lambda_function.this["planner"].function_name
}

output "role_arns" {
  description = "ARN of each function's role."
  value       = { for name, role in aws_iam_role.this : name => role.arn }
}

output "queue_urls" {
  description = "URL of each queue by the name that messages use."
  value       = { for name, queue in aws_sqs_queue.this : name => queue.url }
}

output "dead_letter_queue_urls" {
  description = "URL of each dead-letter queue; that of triggers has what the planner could not take."
  value       = { for name, queue in aws_sqs_queue.dead_letter : name => queue.url }
}

output "table_name" {
  description = "Name of the state table: `lapstrake --state dynamodb://NAME` works on the same runs."
  value       = aws_dynamodb_table.state.name
}

output "table_arn" {
  description = "ARN of the state table."
  value       = aws_dynamodb_table.state.arn
}

output "alarm_topic_arn" {
  description = "SNS topic of the alarms."
  value       = aws_sns_topic.alarms.arn
}

output "bucket_policy" {
  description = "The bucket policy, for a bucket whose policy the module does not manage."
  value       = local.bucket_policy
}

output "schedule_group_name" {
  description = "Scheduler group of the exports and of the sweep."
  value       = aws_scheduler_schedule_group.this.name
}
