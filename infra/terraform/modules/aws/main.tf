data "aws_caller_identity" "current" {}

data "aws_partition" "current" {}

data "aws_region" "current" {}

locals {
  functions = toset(["planner", "chunk", "finalizer", "validator"])

  arn_prefix = "arn:${data.aws_partition.current.partition}"
  bucket_arn = "${local.arn_prefix}:s3:::${var.bucket}"

  # A queue is created later than the role that may use it, and named by it.
  queue_arn_prefix = "${local.arn_prefix}:sqs:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:${var.name}-"

  # s3://bucket/key, with an #ETag at its end or without one. A config that was
  # packed with the planner, file://, needs no permission.
  configs = {
    for name, export in var.exports : name => regex("^s3://(?P<bucket>[^/#]+)/(?P<key>[^#]+)", export.config_uri)
    if startswith(export.config_uri, "s3://")
  }
  config_object_arns = distinct([for config in values(local.configs) : "${local.arn_prefix}:s3:::${config.bucket}/${config.key}"])
  config_bucket_arns = distinct([for config in values(local.configs) : "${local.arn_prefix}:s3:::${config.bucket}"])

  secret_arns        = distinct(flatten([for source in values(var.sources) : source.secret_arns]))
  parameter_arns     = distinct(flatten([for source in values(var.sources) : source.parameter_arns]))
  database_user_arns = distinct(flatten([for source in values(var.sources) : source.database_user_arns]))
}
