use lapstrake_tsql;
go
set transaction isolation level snapshot; begin transaction
go
select o.type from sys.objects as o join sys.schemas as s on s.schema_id = o.schema_id where s.name = N'dbo' collate Latin1_General_BIN2 and o.name = N'orders' collate Latin1_General_BIN2 and o.type in ('U', 'V')
go
select coalesce(sum(p.rows), -1), count_big(*) from sys.partitions as p where p.object_id = object_id(N'[dbo].[orders]') and p.index_id in (0, 1)
go
select coalesce(sum(a.used_pages), -1) from sys.allocation_units as a join sys.partitions as p on p.partition_id = a.container_id where p.object_id = object_id(N'[dbo].[orders]') and p.index_id in (0, 1)
go
select name, coalesce(system_type_name, user_type_name), is_nullable, collation_name, convert(int, collationproperty(collation_name, 'CodePage')), error_number, error_message from sys.dm_exec_describe_first_result_set(N'select * from [dbo].[orders] as _lapstrake', null, 0) where is_hidden = 0 or error_number is not null order by column_ordinal
go
select count_big(*) from [dbo].[orders] as _lapstrake where _lapstrake.[at] is null
go
if @@trancount > 0 rollback transaction
go
set transaction isolation level snapshot; begin transaction
go
select o.type from sys.objects as o join sys.schemas as s on s.schema_id = o.schema_id where s.name = N'dbo' collate Latin1_General_BIN2 and o.name = N'orders' collate Latin1_General_BIN2 and o.type in ('U', 'V')
go
select coalesce(sum(p.rows), -1), count_big(*) from sys.partitions as p where p.object_id = object_id(N'[dbo].[orders]') and p.index_id in (0, 1)
go
select coalesce(sum(a.used_pages), -1) from sys.allocation_units as a join sys.partitions as p on p.partition_id = a.container_id where p.object_id = object_id(N'[dbo].[orders]') and p.index_id in (0, 1)
go
select name, coalesce(system_type_name, user_type_name), is_nullable, collation_name, convert(int, collationproperty(collation_name, 'CodePage')), error_number, error_message from sys.dm_exec_describe_first_result_set(N'select * from [dbo].[orders] as _lapstrake', null, 0) where is_hidden = 0 or error_number is not null order by column_ordinal
go
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'at' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(datetime2(6), h.range_high_key), 126)), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 8) as h where h.range_high_key is not null and convert(datetime2(6), h.range_high_key) <= convert(datetime2(6), N'2024-01-03T12:00:00', 126) and convert(datetime2(6), h.range_high_key) >= convert(datetime2(6), N'2024-01-01T00:00:00', 126) order by h.step_number
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
select _lapstrake.[id], convert(varbinary(80), _lapstrake.[customer]), convert(varbinary(40), convert(nvarchar(20), _lapstrake.[code])), _lapstrake.[price], _lapstrake.[paid], _lapstrake.[ratio], _lapstrake.[weight], _lapstrake.[at], convert(binary(8), _lapstrake.[changed]), _lapstrake.[seen], _lapstrake.[day], _lapstrake.[opens], _lapstrake.[ref], convert(varbinary(max), convert(nvarchar(max), _lapstrake.[note])), convert(varbinary(max), _lapstrake.[body]), _lapstrake.[version], convert(varbinary(max), convert(nvarchar(max), _lapstrake.[doc])), convert(varbinary(20), convert(nvarchar(10), _lapstrake.[kanji])), case when datalength(convert(varbinary(max), convert(varchar(max), convert(nvarchar(max), convert(varchar(max), _lapstrake.[kanji]))))) = datalength(convert(varbinary(max), convert(varchar(max), _lapstrake.[kanji]))) and convert(varbinary(max), convert(varchar(max), convert(nvarchar(max), convert(varchar(max), _lapstrake.[kanji])))) = convert(varbinary(max), convert(varchar(max), _lapstrake.[kanji])) then 1 else 0 end, convert(varbinary(max), convert(nvarchar(max), _lapstrake.[at], 126)), case when _lapstrake.[at] = convert(datetime2(6), N'2024-01-01T00:00:00', 126) then 0x end from [dbo].[orders] as _lapstrake where _lapstrake.[at] is not null and _lapstrake.[at] < convert(datetime2(6), N'2024-01-03T12:00:00', 126) and _lapstrake.[at] >= convert(datetime2(6), N'2024-01-01T00:00:00', 126) order by _lapstrake.[at]
go
select @@trancount
go
if @@trancount > 0 rollback transaction
go
