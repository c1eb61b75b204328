# Every night at two: the tables of a PostgreSQL database as Parquet on S3,
# verified, with an alarm when a table's data is older than a day and a bit.

provider "aws" {
  region = var.region

  default_tags {
    tags = { application = var.name }
  }
}

module "lapstrake" {
  source = "../../modules/aws"

  name         = var.name
  artifact_dir = var.artifact_dir
  bucket       = aws_s3_bucket.lake.bucket
  prefix       = "exports/"

  # The bucket is this example's own, so the module may have both documents.
  manage_bucket_policy      = true
  enable_bucket_eventbridge = true

  sources = {
    default = {
      max_concurrency = var.database_connections
      secret_arns     = [aws_secretsmanager_secret.database.arn]
    }
  }
  environment = {
    DATABASE_URL = "secretsmanager://${aws_secretsmanager_secret.database.name}"
  }

  layer_arns = aws_lambda_layer_version.certificates[*].arn

  exports = {
    for name in var.tables : name => {
      config_uri    = "s3://${aws_s3_object.config.bucket}/${aws_s3_object.config.key}"
      schedule      = "cron(0 2 * * ? *)"
      timezone      = var.timezone
      max_age_hours = 26
    }
  }

  vpc           = var.vpc
  vpc_endpoints = var.vpc_endpoints
  alarm_emails  = var.alarm_emails
}

# The config says what is extracted; the tables are written into it here, so
# that they are named in one place.
resource "aws_s3_object" "config" {
  bucket       = aws_s3_bucket.lake.bucket
  key          = "config/rivet.yaml"
  content_type = "application/yaml"
  content = templatefile("${path.module}/rivet.yaml.tftpl", {
    bucket  = aws_s3_bucket.lake.bucket
    region  = var.region
    tables  = var.tables
    ca_file = var.certificates_zip == null ? "" : "/opt/certificates.pem"
  })
}

# Its value is the URL of the database, postgres://user:password@host:5432/name.
# It is set by hand, once, so that it is in no state file:
#
#     aws secretsmanager put-secret-value --secret-id lapstrake/database-url --secret-string "$DATABASE_URL"
resource "aws_secretsmanager_secret" "database" {
  name        = "${var.name}/database-url"
  description = "URL of the database that ${var.name} reads: of a role that may only read."
}

# RDS and Aurora sign with authorities that no system knows: their certificates
# come as a layer, a zip with certificates.pem in it.
resource "aws_lambda_layer_version" "certificates" {
  count = var.certificates_zip == null ? 0 : 1

  layer_name       = "${var.name}-certificates"
  filename         = var.certificates_zip
  source_code_hash = filebase64sha256(var.certificates_zip)
}
