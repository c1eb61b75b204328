variable "name" {
  description = "Begins the name of everything."
  type        = string
  default     = "lapstrake"
}

variable "region" {
  description = "Region of the database and of the bucket."
  type        = string
}

variable "bucket" {
  description = "Name of the bucket that is made for the exports."
  type        = string
}

variable "tables" {
  description = "Tables to export, schema.table, each with an integer primary key."
  type        = list(string)
  default     = ["public.orders"]

  validation {
    condition     = length(var.tables) > 0 && alltrue([for table in var.tables : can(regex("^[a-z_][a-z0-9_]*\\.[a-z_][a-z0-9_]*$", table))])
    error_message = "A table is schema.table in lower case."
  }
}

variable "timezone" {
  description = "Where it is two o'clock."
  type        = string
  default     = "UTC"
}

variable "database_connections" {
  description = "Connections that the database has for the export."
  type        = number
  default     = 8
}

variable "certificates_zip" {
  description = "Zip of certificates.pem, the authorities of the database: RDS and Aurora need it, see the README. Without it those of the system count."
  type        = string
  default     = null
}

variable "artifact_dir" {
  description = "Where `make package` has put the functions."
  type        = string
  default     = "../../../../dist/lambda/arm64"
}

variable "vpc" {
  description = "Private subnets that reach the database, and security groups that it lets in. A database that is reachable from the internet needs none."
  type = object({
    subnet_ids         = list(string)
    security_group_ids = list(string)
  })
  default = null
}

variable "vpc_endpoints" {
  description = "The endpoints that these subnets lack when they have no NAT gateway, see the module."
  type = object({
    vpc_id             = string
    route_table_ids    = list(string)
    subnet_ids         = list(string)
    security_group_ids = list(string)
    interfaces         = optional(list(string), ["sqs", "secretsmanager"])
  })
  default = null
}

variable "alarm_emails" {
  description = "Who is told when something goes wrong."
  type        = list(string)
  default     = []
}
