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

  mock_resource "aws_secretsmanager_secret" {
    defaults = { arn = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:lapstrake/database-url-AbCdEf" }
  }
}

variables {
  artifact_dir = "../../modules/aws/tests/artifacts"
  region       = "eu-central-1"
  bucket       = "acme-lake"
  tables       = ["public.orders", "public.items"]
}

run "the_config_has_the_tables_and_no_secret" {
  assert {
    condition     = [for export in yamldecode(aws_s3_object.config.content).exports : export.table] == ["public.orders", "public.items"]
    error_message = aws_s3_object.config.content
  }

  assert {
    condition     = yamldecode(aws_s3_object.config.content).source == { type = "postgres", url_env = "DATABASE_URL", tls = { mode = "verify-full" } }
    error_message = aws_s3_object.config.content
  }

  assert {
    condition     = alltrue([for export in yamldecode(aws_s3_object.config.content).exports : export.destination.prefix == "exports/${export.name}" && export.destination.bucket == "acme-lake"])
    error_message = "An export writes where its role may not."
  }
}

run "rds_is_known_by_the_certificates_of_a_layer" {
  variables {
    certificates_zip = "../../modules/aws/tests/artifacts/chunk.zip"
  }

  assert {
    condition     = yamldecode(aws_s3_object.config.content).source.tls.ca_file == "/opt/certificates.pem" && length(aws_lambda_layer_version.certificates) == 1
    error_message = aws_s3_object.config.content
  }
}

run "the_bucket_is_private_and_keeps_versions" {
  assert {
    condition     = one(aws_s3_bucket_versioning.lake.versioning_configuration).status == "Enabled" && aws_s3_bucket_public_access_block.lake.block_public_policy && aws_s3_bucket_public_access_block.lake.restrict_public_buckets
    error_message = "The bucket is open, or forgets."
  }
}
