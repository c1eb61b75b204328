mock_provider "aws" {}

variables {
  artifact_dir = "./tests/artifacts"
  bucket       = "acme-lake"
}

run "a_name_of_other_characters_is_refused" {
  command = plan

  variables {
    name = "Shop_1"
  }

  expect_failures = [var.name]
}

run "a_folder_without_zips_is_refused" {
  command = plan

  variables {
    artifact_dir = "./tests"
  }

  expect_failures = [var.artifact_dir]
}

run "a_prefix_without_a_slash_is_refused" {
  command = plan

  variables {
    prefix = "exports"
  }

  expect_failures = [var.prefix]
}

run "a_prefix_with_a_wildcard_is_refused" {
  command = plan

  variables {
    prefix = "*/"
  }

  expect_failures = [var.prefix]
}

run "a_single_connection_is_refused" {
  command = plan

  variables {
    sources = { default = { max_concurrency = 1 } }
  }

  expect_failures = [var.sources]
}

run "a_source_in_capitals_is_refused" {
  command = plan

  variables {
    sources = { Shop = {} }
  }

  expect_failures = [var.sources]
}

run "every_secret_there_is_is_refused" {
  command = plan

  variables {
    sources = { default = { secret_arns = ["arn:aws:secretsmanager:eu-central-1:123456789012:secret:*"] } }
  }

  expect_failures = [var.sources]
}

run "every_user_of_a_database_is_refused" {
  command = plan

  variables {
    sources = { default = { database_user_arns = ["arn:aws:rds-db:eu-central-1:123456789012:dbuser:*/reader"] } }
  }

  expect_failures = [var.sources]
}

run "a_password_in_a_variable_is_refused" {
  command = plan

  variables {
    environment = { DATABASE_URL = "postgres://reader:hunter2@db/shop" }
  }

  expect_failures = [var.environment]
}

run "a_variable_of_the_module_is_refused" {
  command = plan

  variables {
    environment = { LAPSTRAKE_TABLE = "other" }
  }

  expect_failures = [var.environment]
}

run "a_config_on_the_web_is_refused" {
  command = plan

  variables {
    exports = { orders = { config_uri = "https://example.com/rivet.yaml" } }
  }

  expect_failures = [var.exports]
}

run "a_schedule_in_words_is_refused" {
  command = plan

  variables {
    exports = { orders = { config_uri = "s3://c/rivet.yaml", schedule = "nightly" } }
  }

  expect_failures = [var.exports]
}

run "an_age_of_a_month_is_refused" {
  command = plan

  variables {
    exports = { orders = { config_uri = "s3://c/rivet.yaml", max_age_hours = 720 } }
  }

  expect_failures = [var.exports]
}

run "a_timeout_that_lambda_has_not_is_refused" {
  command = plan

  variables {
    timeout_seconds = 1800
  }

  expect_failures = [var.timeout_seconds]
}

run "a_heartbeat_slower_than_the_lease_is_refused" {
  command = plan

  variables {
    heartbeat_seconds = 180
  }

  expect_failures = [var.heartbeat_seconds]
}

run "a_webhook_in_clear_is_refused" {
  command = plan

  variables {
    slack_webhook = { reference = "https://hooks.example.com/T0", arn = "arn:aws:ssm:eu-central-1:123456789012:parameter/x" }
  }

  expect_failures = [var.slack_webhook]
}

run "an_alias_as_a_key_is_refused" {
  command = plan

  variables {
    kms_key_arn = "arn:aws:kms:eu-central-1:123456789012:alias/lake"
  }

  expect_failures = [var.kms_key_arn]
}

run "a_retention_that_cloudwatch_has_not_is_refused" {
  command = plan

  variables {
    log_retention_days = 31
  }

  expect_failures = [var.log_retention_days]
}
