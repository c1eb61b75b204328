# Gateway endpoints cost nothing and keep what is extracted off a NAT gateway,
# which would cost more than the functions do.
resource "aws_vpc_endpoint" "gateway" {
  for_each = toset(var.vpc_endpoints == null ? [] : ["s3", "dynamodb"])

  vpc_id            = var.vpc_endpoints.vpc_id
  vpc_endpoint_type = "Gateway"
  service_name      = "com.amazonaws.${data.aws_region.current.region}.${each.key}"
  route_table_ids   = var.vpc_endpoints.route_table_ids

  tags = merge(var.tags, { Name = "${var.name}-${each.key}" })
}

# What the functions call besides: their log events go through Lambda itself.
resource "aws_vpc_endpoint" "interface" {
  for_each = toset(try(var.vpc_endpoints.interfaces, []))

  vpc_id              = var.vpc_endpoints.vpc_id
  vpc_endpoint_type   = "Interface"
  service_name        = "com.amazonaws.${data.aws_region.current.region}.${each.key}"
  subnet_ids          = var.vpc_endpoints.subnet_ids
  security_group_ids  = var.vpc_endpoints.security_group_ids
  private_dns_enabled = true

  tags = merge(var.tags, { Name = "${var.name}-${each.key}" })
}
