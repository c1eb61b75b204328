variable "name" {
  description = "The stack: begins the name of everything that is created, and is LAPSTRAKE_STACK of the functions."
  type        = string
  default     = "lapstrake"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,29}[a-z0-9]$", var.name))
    error_message = "The name is 2 to 31 lower-case letters, digits and hyphens, and begins with a letter."
  }
}

variable "artifact_dir" {
  description = "Folder of planner.zip, chunk.zip, finalizer.zip and validator.zip: dist/lambda/arm64 after `make package`."
  type        = string
  nullable    = false

  validation {
    condition     = alltrue([for name in ["planner", "chunk", "finalizer", "validator"] : fileexists("${var.artifact_dir}/${name}.zip")])
    error_message = "A zip is missing: `make package` writes planner.zip, chunk.zip, finalizer.zip and validator.zip to dist/lambda/arm64."
  }
}

variable "architecture" {
  description = "What the zips were built for: arm64, or x86_64 for those of `make package ARCH=amd64`."
  type        = string
  default     = "arm64"
  nullable    = false

  validation {
    condition     = contains(["arm64", "x86_64"], var.architecture)
    error_message = "Lambda has arm64 and x86_64."
  }
}

variable "bucket" {
  description = "Name of the bucket that gets the exports. It exists, and has versioning if cursors are to be restorable."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", var.bucket))
    error_message = "This is not the name of a bucket: 3 to 63 lower-case letters, digits, dots and hyphens."
  }
}

variable "prefix" {
  description = "All exports write below this prefix of the bucket, and the functions reach nothing else of it. Empty, or ending in a slash."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = var.prefix == "" || can(regex("^[^/*?$][^*?$]*/$", var.prefix))
    error_message = "The prefix is empty or ends in a slash, does not begin with one, and has none of * ? $, which policies understand in their own way."
  }
}

variable "manage_bucket_policy" {
  description = "Make the bucket's policy. It replaces the one that is there: for a bucket that has one, add the statements of output bucket_policy to it instead."
  type        = bool
  default     = false
  nullable    = false
}

variable "enable_bucket_eventbridge" {
  description = "Have the bucket send its events to EventBridge. It replaces the bucket's notifications: leave it off where others have set some, and switch EventBridge on there."
  type        = bool
  default     = false
  nullable    = false
}

variable "sources" {
  description = <<-EOT
    Source databases, by the source_name of the configs ("default" where they name none). Each has a chunk queue.
    max_concurrency is the number of chunk functions, and so of connections, that the database bears at a time.
    secret_arns and parameter_arns are the secrets of Secrets Manager and the SecureString parameters that hold its credentials.
    database_user_arns are the users that a config with source_auth: rds_iam signs in as: arn:aws:rds-db:REGION:ACCOUNT:dbuser:RESOURCE-ID/USER.
  EOT
  type = map(object({
    max_concurrency    = optional(number, 8)
    secret_arns        = optional(list(string), [])
    parameter_arns     = optional(list(string), [])
    database_user_arns = optional(list(string), [])
  }))
  default  = { default = {} }
  nullable = false

  validation {
    condition     = length(var.sources) > 0 && alltrue([for name in keys(var.sources) : can(regex("^[a-z0-9-]{1,32}$", name))])
    error_message = "There is at least one source, and its name is 1 to 32 lower-case letters, digits and hyphens."
  }

  validation {
    condition     = alltrue([for source in values(var.sources) : source.max_concurrency >= 2 && source.max_concurrency <= 1000 && floor(source.max_concurrency) == source.max_concurrency])
    error_message = "Lambda takes a maximum concurrency of 2 to 1000."
  }

  validation {
    condition     = alltrue([for arn in flatten([for source in values(var.sources) : concat(source.secret_arns, source.parameter_arns)]) : startswith(arn, "arn:") && !endswith(arn, ":*") && !endswith(arn, "/*")])
    error_message = "Name each secret and parameter by its ARN, not all of them by a wildcard."
  }

  validation {
    condition     = alltrue([for arn in flatten([for source in values(var.sources) : source.database_user_arns]) : can(regex("^arn:[^:*]+:rds-db:[^:*]+:[^:*]+:dbuser:[^/*]+/[^/*]+$", arn))])
    error_message = "Name each database user as arn:aws:rds-db:REGION:ACCOUNT:dbuser:RESOURCE-ID/USER, without a wildcard."
  }
}

variable "environment" {
  description = "Variables that the configs name (url_env, password_env, $${NAME}), for the planner and the chunk function. Credentials are references: secretsmanager://name, secretsmanager://name#field, ssm://name."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for name in keys(var.environment) : !startswith(name, "LAPSTRAKE_") && !startswith(name, "AWS_")])
    error_message = "Variables that begin with LAPSTRAKE_ or AWS_ are the module's and Lambda's."
  }

  validation {
    condition     = alltrue([for value in values(var.environment) : !can(regex("://[^/@]*:[^/@]+@", value))])
    error_message = "A value is a URL with a password in it. Store it as a secret and give the reference, secretsmanager://name: the functions refuse a password in clear."
  }
}

variable "layer_arns" {
  description = "Layers of the planner and the chunk function, which open the sources: a file of a layer is below /opt, such as the certificates that tls.ca_file of a config names."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = length(var.layer_arns) <= 5
    error_message = "A function has at most five layers."
  }
}

variable "exports" {
  description = <<-EOT
    Exports, by a name of your choice: the export's own, unless export says otherwise.
    config_uri is s3://bucket/key of the rivet.yaml, with #ETag at its end to refuse another version of it, or file:///var/task/rivet.yaml.
    schedule is an expression of EventBridge Scheduler, cron(...) or rate(...), in the timezone; without one the export runs when the planner is called.
    max_age_hours raises an alarm when no run has succeeded for so long.
  EOT
  type = map(object({
    config_uri    = string
    export        = optional(string)
    schedule      = optional(string)
    timezone      = optional(string, "UTC")
    enabled       = optional(bool, true)
    on_conflict   = optional(string, "reject")
    params        = optional(map(string), {})
    max_age_hours = optional(number)
  }))
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for export in values(var.exports) : can(regex("^(s3://[^/#]+/[^#*?]+(#[^#]+)?|file:///var/task/.+)$", export.config_uri))])
    error_message = "A config_uri is s3://bucket/key, s3://bucket/key#ETag or file:///var/task/path."
  }

  validation {
    condition     = alltrue([for export in values(var.exports) : export.schedule == null || can(regex("^(cron|rate|at)\\(.+\\)$", export.schedule))])
    error_message = "A schedule is cron(...), rate(...) or at(...)."
  }

  validation {
    condition     = alltrue([for export in values(var.exports) : contains(["reject", "supersede"], export.on_conflict)])
    error_message = "on_conflict is reject or supersede."
  }

  validation {
    condition     = alltrue([for export in values(var.exports) : export.max_age_hours == null || try(export.max_age_hours >= 1 && export.max_age_hours <= 168, false)])
    error_message = "CloudWatch looks back 1 to 168 hours."
  }
}

variable "memory_mb" {
  description = "Memory of each function. 1769 MB is one CPU; the Go heap is limited to 80 % of it."
  type = object({
    planner   = optional(number, 2048)
    chunk     = optional(number, 2048)
    finalizer = optional(number, 2048)
    validator = optional(number, 2048)
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for mb in values(var.memory_mb) : mb >= 512 && mb <= 10240])
    error_message = "Between 512 and 10240 MB."
  }
}

variable "timeout_seconds" {
  description = "Timeout of each function. Chunks are planned to end in it or to split; a message is hidden for six times as long."
  type        = number
  default     = 900
  nullable    = false

  validation {
    condition     = var.timeout_seconds >= 60 && var.timeout_seconds <= 900
    error_message = "Between 60 and 900 seconds, Lambda's longest."
  }
}

variable "lease_seconds" {
  description = "How long a claimed chunk is left alone without a heartbeat: how soon a dead worker's chunk is taken up."
  type        = number
  default     = 180
  nullable    = false

  validation {
    condition     = var.lease_seconds >= 30 && var.lease_seconds <= 900
    error_message = "Between 30 and 900 seconds."
  }
}

variable "heartbeat_seconds" {
  description = "How often a worker says that it is alive."
  type        = number
  default     = 60
  nullable    = false

  validation {
    condition     = var.heartbeat_seconds >= 5 && var.heartbeat_seconds < var.lease_seconds
    error_message = "At least 5 seconds, and shorter than the lease: the functions would not start."
  }
}

variable "run_ttl_hours" {
  description = "A run that has not ended by then is failed."
  type        = number
  default     = 24
  nullable    = false

  validation {
    condition     = var.run_ttl_hours >= 1 && var.run_ttl_hours <= 336
    error_message = "Between 1 hour and the 14 days that a queue keeps a message."
  }
}

variable "slack_webhook" {
  description = "Webhook that is told of failed and degraded runs and verdicts, and of changed columns: a reference to its URL, secretsmanager://name or ssm://name, and the ARN of that secret or parameter."
  type = object({
    reference = string
    arn       = string
  })
  default = null

  validation {
    condition     = var.slack_webhook == null || can(regex("^(secretsmanager|ssm)://.+", var.slack_webhook.reference))
    error_message = "The reference is secretsmanager://name or ssm://name: the URL itself is a secret."
  }
}

variable "notification_topic_arn" {
  description = "SNS topic that is told how each run ends, and of each verdict, as JSON. Subscribers filter by the attributes kind, status, outcome (success, degraded, failure) and schema_changed. A topic with a key of its own grants the functions' roles its use there."
  type        = string
  default     = null

  validation {
    condition     = var.notification_topic_arn == null || can(regex("^arn:[a-z-]+:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]+$", var.notification_topic_arn))
    error_message = "A topic is named by its ARN, arn:aws:sns:region:account:name. Topics that keep an order, .fifo, are not supported."
  }
}

variable "state_machine_arns" {
  description = "State machines of Step Functions that start exports and wait for a task token: the planner and the finalizer may answer theirs, and no other's."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for arn in var.state_machine_arns : can(regex("^arn:[a-z-]+:states:[a-z0-9-]+:[0-9]{12}:stateMachine:[A-Za-z0-9_-]+$", arn))])
    error_message = "A state machine is named by its ARN, arn:aws:states:region:account:stateMachine:name, without a wildcard."
  }
}

variable "allow_quarantine" {
  description = "Let the planner move what a resumed run cannot use to _quarantine/, which takes the right to delete. Without it such objects stay where they are, in no manifest, and the log says so."
  type        = bool
  default     = false
  nullable    = false
}

variable "kms_key_arn" {
  description = "Key of your own for table, queues, topic, logs and environment, instead of AWS's. Its policy lets events.amazonaws.com, cloudwatch.amazonaws.com, scheduler.amazonaws.com and logs.<region>.amazonaws.com use it; if the bucket's key is another one, grant it to the roles."
  type        = string
  default     = null

  validation {
    condition     = var.kms_key_arn == null || can(regex("^arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/.+$", var.kms_key_arn))
    error_message = "The ARN of a key, arn:aws:kms:region:account:key/id; an alias would not do in a policy."
  }
}

variable "vpc" {
  description = "Where the functions run to reach the databases: private subnets and their security groups. Without it they run outside of any VPC."
  type = object({
    subnet_ids         = list(string)
    security_group_ids = list(string)
  })
  default = null

  validation {
    condition     = var.vpc == null || try(length(var.vpc.subnet_ids) > 0 && length(var.vpc.security_group_ids) > 0, false)
    error_message = "At least one subnet and one security group."
  }
}

variable "vpc_endpoints" {
  description = "Make the endpoints that functions in a VPC without a NAT gateway need: gateways for S3 and DynamoDB in the route tables, interfaces for the others in the subnets. Leave it out where the VPC has them."
  type = object({
    vpc_id             = string
    route_table_ids    = list(string)
    subnet_ids         = list(string)
    security_group_ids = list(string)
    interfaces         = optional(list(string), ["sqs", "secretsmanager"])
  })
  default = null

  validation {
    condition     = var.vpc_endpoints == null || alltrue([for name in try(var.vpc_endpoints.interfaces, []) : contains(["sqs", "secretsmanager", "ssm", "kms", "states", "sts"], name)])
    error_message = "Interfaces are sqs, secretsmanager, ssm, kms, states and sts."
  }
}

variable "deletion_protection" {
  description = "Refuse to delete the table. Switch it off, apply, then destroy."
  type        = bool
  default     = true
  nullable    = false
}

variable "log_retention_days" {
  description = "How long log events are kept."
  type        = number
  default     = 30
  nullable    = false

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_retention_days)
    error_message = "CloudWatch keeps events for 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731 or some thousand days."
  }
}

variable "alarm_emails" {
  description = "Addresses that are told of alarms. Each has to confirm."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for address in var.alarm_emails : can(regex("^[^@ ]+@[^@ ]+$", address))])
    error_message = "These are no e-mail addresses."
  }
}

variable "alarm_topic_arns" {
  description = "Further SNS topics that are told of alarms."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "oldest_message_seconds" {
  description = "Age of a message that raises an alarm. A large export waits for its connections: choose what a night may take."
  type        = number
  default     = 21600
  nullable    = false

  validation {
    condition     = var.oldest_message_seconds >= 300
    error_message = "At least 300 seconds."
  }
}

variable "permissions_boundary_arn" {
  description = "Permissions boundary of every role."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of everything that can have some."
  type        = map(string)
  default     = {}
  nullable    = false
}
