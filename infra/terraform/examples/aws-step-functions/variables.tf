variable "name" {
  description = "Begins the name of everything."
  type        = string
  default     = "lapstrake"
}

variable "region" {
  description = "Region of the databases and of the bucket."
  type        = string
}

variable "bucket" {
  description = "Bucket of the exports. It exists and sends its events to EventBridge."
  type        = string
}

variable "prefix" {
  description = "The exports write below it; ends in a slash."
  type        = string
  default     = "exports/"
}

variable "exports" {
  description = "URI of the config of each export, s3://bucket/rivet.yaml."
  type        = map(string)
}

variable "sources" {
  description = "Source databases by the source_name of the configs, see the module."
  type = map(object({
    max_concurrency    = optional(number, 8)
    secret_arns        = optional(list(string), [])
    parameter_arns     = optional(list(string), [])
    database_user_arns = optional(list(string), [])
  }))
}

variable "environment" {
  description = "Variables that the configs name, with references for credentials."
  type        = map(string)
  default     = {}
}

variable "schedule" {
  description = "When the exports run, cron(...) or rate(...); null leaves the start to others."
  type        = string
  default     = "cron(0 2 * * ? *)"
}

variable "timezone" {
  description = "Time zone of the schedule."
  type        = string
  default     = "UTC"
}

variable "artifact_dir" {
  description = "Where `make package` has put the functions."
  type        = string
  default     = "../../../../dist/lambda/arm64"
}

variable "vpc" {
  description = "Private subnets that reach the databases, and security groups that they let in."
  type = object({
    subnet_ids         = list(string)
    security_group_ids = list(string)
  })
  default = null
}

variable "alarm_emails" {
  description = "Who is told when something goes wrong."
  type        = list(string)
  default     = []
}
