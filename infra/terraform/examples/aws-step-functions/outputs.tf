output "state_machine_arns" {
  description = "ARN of each state machine: export takes one export, exports several."
  value       = { for name, machine in aws_sfn_state_machine.this : name => machine.arn }
}

output "published_topic_arn" {
  description = "Topic of what was published and verified."
  value       = aws_sns_topic.published.arn
}

output "queue_urls" {
  description = "The queues, as `lapstrake redrive` has them in LAPSTRAKE_QUEUE_URLS."
  value       = module.lapstrake.queue_urls
}
