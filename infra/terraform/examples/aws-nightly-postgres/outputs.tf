output "secret_name" {
  description = "The secret that the URL of the database has to be put into."
  value       = aws_secretsmanager_secret.database.name
}

output "run_now" {
  description = "Starts the first export without waiting for the night."
  value = join(" ", [
    "aws lambda invoke --region ${var.region} --cli-binary-format raw-in-base64-out --function-name ${module.lapstrake.planner_name}",
    "--payload '{\"version\":1,\"action\":\"run\",\"export\":\"${var.tables[0]}\",\"config_uri\":\"s3://${aws_s3_object.config.bucket}/${aws_s3_object.config.key}\",\"scheduled_time\":\"'$(date -u +%FT%TZ)'\"}' /dev/stdout",
  ])
}

output "exports" {
  description = "Where the exports are: read what manifest.json lists, never a glob."
  value       = { for name in var.tables : name => "s3://${aws_s3_bucket.lake.bucket}/exports/${name}/manifest.json" }
}

output "queue_urls" {
  description = "The queues, as `lapstrake redrive` has them in LAPSTRAKE_QUEUE_URLS."
  value       = module.lapstrake.queue_urls
}
