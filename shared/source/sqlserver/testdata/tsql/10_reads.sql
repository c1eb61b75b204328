use lapstrake_tsql;
go
set transaction isolation level snapshot; begin transaction
go
select convert(nvarchar(18), min_active_rowversion(), 1)
go
select o.type from sys.objects as o join sys.schemas as s on s.schema_id = o.schema_id where s.name = N'dbo' collate Latin1_General_BIN2 and o.name = N'orders' collate Latin1_General_BIN2 and o.type in ('U', 'V')
go
select coalesce(sum(p.rows), -1), count_big(*) from sys.partitions as p where p.object_id = object_id(N'[dbo].[orders]') and p.index_id in (0, 1)
go
select coalesce(sum(a.used_pages), -1) from sys.allocation_units as a join sys.partitions as p on p.partition_id = a.container_id where p.object_id = object_id(N'[dbo].[orders]') and p.index_id in (0, 1)
go
select name, coalesce(system_type_name, user_type_name), is_nullable, collation_name, convert(int, collationproperty(collation_name, 'CodePage')), error_number, error_message from sys.dm_exec_describe_first_result_set(N'select * from [dbo].[orders] as _lapstrake', null, 0) where is_hidden = 0 or error_number is not null order by column_ordinal
go
select count_big(*) from sys.security_predicates as p join sys.security_policies as s on s.object_id = p.object_id where p.target_object_id = object_id(N'[dbo].[orders]') and p.predicate_type = 0 and s.is_enabled = 1
go
select c.name, case when c.encryption_type is not null then 1 else 0 end from sys.columns as c where c.object_id = object_id(N'[dbo].[orders]') and (c.encryption_type is not null or c.is_masked = 1 and coalesce(has_perms_by_name(db_name(), N'DATABASE', N'UNMASK'), 0) = 0 and coalesce(has_perms_by_name(N'[dbo].[orders]', N'OBJECT', N'UNMASK'), 0) = 0) order by c.column_id
go
select _lapstrake.[id], convert(varbinary(80), _lapstrake.[customer]), convert(varbinary(40), convert(nvarchar(20), _lapstrake.[code])), _lapstrake.[price], _lapstrake.[paid], _lapstrake.[ratio], _lapstrake.[weight], _lapstrake.[at], convert(binary(8), _lapstrake.[changed]), _lapstrake.[seen], _lapstrake.[day], _lapstrake.[opens], _lapstrake.[ref], substring(convert(varbinary(max), convert(nvarchar(max), _lapstrake.[note])), 1, 2097154), substring(convert(varbinary(max), _lapstrake.[body]), 1, 1048578), _lapstrake.[version], substring(convert(varbinary(max), convert(nvarchar(max), _lapstrake.[doc])), 1, 2097154), convert(varbinary(20), convert(nvarchar(10), _lapstrake.[kanji])), case when datalength(convert(varbinary(max), convert(varchar(max), convert(nvarchar(max), convert(varchar(max), _lapstrake.[kanji]))))) = datalength(convert(varbinary(max), convert(varchar(max), _lapstrake.[kanji]))) and convert(varbinary(max), convert(varchar(max), convert(nvarchar(max), convert(varchar(max), _lapstrake.[kanji])))) = convert(varbinary(max), convert(varchar(max), _lapstrake.[kanji])) then 1 else 0 end from [dbo].[orders] as _lapstrake order by _lapstrake.[code], _lapstrake.[id]
go
select @@trancount
go
if @@trancount > 0 rollback transaction
go
set transaction isolation level snapshot; begin transaction
go
select convert(nvarchar(18), min_active_rowversion(), 1)
go
select o.type from sys.objects as o join sys.schemas as s on s.schema_id = o.schema_id where s.name = N'dbo' collate Latin1_General_BIN2 and o.name = N'orders' collate Latin1_General_BIN2 and o.type in ('U', 'V')
go
select coalesce(sum(p.rows), -1), count_big(*) from sys.partitions as p where p.object_id = object_id(N'[dbo].[orders]') and p.index_id in (0, 1)
go
select coalesce(sum(a.used_pages), -1) from sys.allocation_units as a join sys.partitions as p on p.partition_id = a.container_id where p.object_id = object_id(N'[dbo].[orders]') and p.index_id in (0, 1)
go
select name, coalesce(system_type_name, user_type_name), is_nullable, collation_name, convert(int, collationproperty(collation_name, 'CodePage')), error_number, error_message from sys.dm_exec_describe_first_result_set(N'select * from [dbo].[orders] as _lapstrake', null, 0) where is_hidden = 0 or error_number is not null order by column_ordinal
go
select count_big(*) from sys.security_predicates as p join sys.security_policies as s on s.object_id = p.object_id where p.target_object_id = object_id(N'[dbo].[orders]') and p.predicate_type = 0 and s.is_enabled = 1
go
select c.name, case when c.encryption_type is not null then 1 else 0 end from sys.columns as c where c.object_id = object_id(N'[dbo].[orders]') and (c.encryption_type is not null or c.is_masked = 1 and coalesce(has_perms_by_name(db_name(), N'DATABASE', N'UNMASK'), 0) = 0 and coalesce(has_perms_by_name(N'[dbo].[orders]', N'OBJECT', N'UNMASK'), 0) = 0) order by c.column_id
go
select _lapstrake.[id], convert(varbinary(80), _lapstrake.[customer]), convert(varbinary(40), convert(nvarchar(20), _lapstrake.[code])), _lapstrake.[price], _lapstrake.[paid], _lapstrake.[ratio], _lapstrake.[weight], _lapstrake.[at], convert(binary(8), _lapstrake.[changed]), _lapstrake.[seen], _lapstrake.[day], _lapstrake.[opens], _lapstrake.[ref], substring(convert(varbinary(max), convert(nvarchar(max), _lapstrake.[note])), 1, 2097154), substring(convert(varbinary(max), _lapstrake.[body]), 1, 1048578), _lapstrake.[version], substring(convert(varbinary(max), convert(nvarchar(max), _lapstrake.[doc])), 1, 2097154), convert(varbinary(20), convert(nvarchar(10), _lapstrake.[kanji])), case when datalength(convert(varbinary(max), convert(varchar(max), convert(nvarchar(max), convert(varchar(max), _lapstrake.[kanji]))))) = datalength(convert(varbinary(max), convert(varchar(max), _lapstrake.[kanji]))) and convert(varbinary(max), convert(varchar(max), convert(nvarchar(max), convert(varchar(max), _lapstrake.[kanji])))) = convert(varbinary(max), convert(varchar(max), _lapstrake.[kanji])) then 1 else 0 end from [dbo].[orders] as _lapstrake where (_lapstrake.[code] is null or _lapstrake.[id] is null) order by _lapstrake.[code], _lapstrake.[id]
go
select @@trancount
go
if @@trancount > 0 rollback transaction
go
set transaction isolation level snapshot; begin transaction
go
select convert(nvarchar(18), min_active_rowversion(), 1)
go
select o.type from sys.objects as o join sys.schemas as s on s.schema_id = o.schema_id where s.name = N'dbo' collate Latin1_General_BIN2 and o.name = N'orders' collate Latin1_General_BIN2 and o.type in ('U', 'V')
go
select coalesce(sum(p.rows), -1), count_big(*) from sys.partitions as p where p.object_id = object_id(N'[dbo].[orders]') and p.index_id in (0, 1)
go
select coalesce(sum(a.used_pages), -1) from sys.allocation_units as a join sys.partitions as p on p.partition_id = a.container_id where p.object_id = object_id(N'[dbo].[orders]') and p.index_id in (0, 1)
go
select name, coalesce(system_type_name, user_type_name), is_nullable, collation_name, convert(int, collationproperty(collation_name, 'CodePage')), error_number, error_message from sys.dm_exec_describe_first_result_set(N'select * from [dbo].[orders] as _lapstrake', null, 0) where is_hidden = 0 or error_number is not null order by column_ordinal
go
select count_big(*) from sys.security_predicates as p join sys.security_policies as s on s.object_id = p.object_id where p.target_object_id = object_id(N'[dbo].[orders]') and p.predicate_type = 0 and s.is_enabled = 1
go
select c.name, case when c.encryption_type is not null then 1 else 0 end from sys.columns as c where c.object_id = object_id(N'[dbo].[orders]') and (c.encryption_type is not null or c.is_masked = 1 and coalesce(has_perms_by_name(db_name(), N'DATABASE', N'UNMASK'), 0) = 0 and coalesce(has_perms_by_name(N'[dbo].[orders]', N'OBJECT', N'UNMASK'), 0) = 0) order by c.column_id
go
select _lapstrake.[id], convert(varbinary(80), _lapstrake.[customer]), convert(varbinary(40), convert(nvarchar(20), _lapstrake.[code])), _lapstrake.[price], _lapstrake.[paid], _lapstrake.[ratio], _lapstrake.[weight], _lapstrake.[at], convert(binary(8), _lapstrake.[changed]), _lapstrake.[seen], _lapstrake.[day], _lapstrake.[opens], _lapstrake.[ref], substring(convert(varbinary(max), convert(nvarchar(max), _lapstrake.[note])), 1, 2097154), substring(convert(varbinary(max), _lapstrake.[body]), 1, 1048578), _lapstrake.[version], substring(convert(varbinary(max), convert(nvarchar(max), _lapstrake.[doc])), 1, 2097154), convert(varbinary(20), convert(nvarchar(10), _lapstrake.[kanji])), case when datalength(convert(varbinary(max), convert(varchar(max), convert(nvarchar(max), convert(varchar(max), _lapstrake.[kanji]))))) = datalength(convert(varbinary(max), convert(varchar(max), _lapstrake.[kanji]))) and convert(varbinary(max), convert(varchar(max), convert(nvarchar(max), convert(varchar(max), _lapstrake.[kanji])))) = convert(varbinary(max), convert(varchar(max), _lapstrake.[kanji])) then 1 else 0 end from [dbo].[orders] as _lapstrake where _lapstrake.[code] is not null and (_lapstrake.[code] >= convert(varchar(20), N'A-1' collate SQL_Latin1_General_CP1_CI_AS) and (_lapstrake.[code] > convert(varchar(20), N'A-1' collate SQL_Latin1_General_CP1_CI_AS) or _lapstrake.[code] = convert(varchar(20), N'A-1' collate SQL_Latin1_General_CP1_CI_AS) and (_lapstrake.[id] > 1))) and (_lapstrake.[code] <= convert(varchar(20), N'b-2' collate SQL_Latin1_General_CP1_CI_AS) and (_lapstrake.[code] < convert(varchar(20), N'b-2' collate SQL_Latin1_General_CP1_CI_AS) or _lapstrake.[code] = convert(varchar(20), N'b-2' collate SQL_Latin1_General_CP1_CI_AS) and (_lapstrake.[id] <= 2))) order by _lapstrake.[code], _lapstrake.[id]
go
select @@trancount
go
if @@trancount > 0 rollback transaction
go
set transaction isolation level snapshot; begin transaction
go
select convert(nvarchar(18), min_active_rowversion(), 1)
go
select o.type from sys.objects as o join sys.schemas as s on s.schema_id = o.schema_id where s.name = N'dbo' collate Latin1_General_BIN2 and o.name = N'pairs' collate Latin1_General_BIN2 and o.type in ('U', 'V')
go
select coalesce(sum(p.rows), -1), count_big(*) from sys.partitions as p where p.object_id = object_id(N'[dbo].[pairs]') and p.index_id in (0, 1)
go
select coalesce(sum(a.used_pages), -1) from sys.allocation_units as a join sys.partitions as p on p.partition_id = a.container_id where p.object_id = object_id(N'[dbo].[pairs]') and p.index_id in (0, 1)
go
select name, coalesce(system_type_name, user_type_name), is_nullable, collation_name, convert(int, collationproperty(collation_name, 'CodePage')), error_number, error_message from sys.dm_exec_describe_first_result_set(N'select * from [dbo].[pairs] as _lapstrake', null, 0) where is_hidden = 0 or error_number is not null order by column_ordinal
go
select count_big(*) from sys.security_predicates as p join sys.security_policies as s on s.object_id = p.object_id where p.target_object_id = object_id(N'[dbo].[pairs]') and p.predicate_type = 0 and s.is_enabled = 1
go
select c.name, case when c.encryption_type is not null then 1 else 0 end from sys.columns as c where c.object_id = object_id(N'[dbo].[pairs]') and (c.encryption_type is not null or c.is_masked = 1 and coalesce(has_perms_by_name(db_name(), N'DATABASE', N'UNMASK'), 0) = 0 and coalesce(has_perms_by_name(N'[dbo].[pairs]', N'OBJECT', N'UNMASK'), 0) = 0) order by c.column_id
go
select _lapstrake.[tenant], _lapstrake.[ref], _lapstrake.[n], case when _lapstrake.[n] = 3 then convert(varbinary(max), convert(nvarchar(max), _lapstrake.[tenant])) end, case when _lapstrake.[n] = 3 then convert(varbinary(max), convert(nvarchar(max), _lapstrake.[ref])) end from [dbo].[pairs] as _lapstrake where _lapstrake.[n] is not null and _lapstrake.[n] <= 3 and _lapstrake.[n] >= 1 and (_lapstrake.[n] > 1 or not (_lapstrake.[tenant] = 1 and _lapstrake.[ref] = convert(uniqueidentifier, N'00000000-0000-0000-0000-000000000001'))) and (_lapstrake.[n] < 3 or (_lapstrake.[tenant] = 2 and _lapstrake.[ref] = convert(uniqueidentifier, N'00000000-0000-0000-0000-000000000001'))) order by _lapstrake.[n], _lapstrake.[tenant], _lapstrake.[ref]
go
select @@trancount
go
if @@trancount > 0 rollback transaction
go
