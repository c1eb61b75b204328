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
select convert(nvarchar(40), dateadd(second, -3600, sysutcdatetime()), 126)
go
select top (1) convert(varbinary(max), convert(nvarchar(max), _lapstrake.[changed], 126)) from [dbo].[orders] as _lapstrake where _lapstrake.[changed] is not null and _lapstrake.[seen] >= convert(datetimeoffset(6), N'2026-11-30T11:00:00.1234567+00:00', 126) and _lapstrake.[changed] > convert(datetime, N'2024-09-25T13:39:40.833', 126) order by _lapstrake.[changed]
go
select top (1) convert(varbinary(max), convert(nvarchar(max), _lapstrake.[changed], 126)) from [dbo].[orders] as _lapstrake where _lapstrake.[changed] is not null and (_lapstrake.[seen] is null or _lapstrake.[seen] < convert(datetimeoffset(6), N'2026-11-30T11:00:00.1234567+00:00', 126)) order by _lapstrake.[changed] desc
go
select count_big(*), coalesce(sum(convert(bigint, datalength(convert(varchar(max), convert(nvarchar(max), _lapstrake.[id]) collate Latin1_General_100_BIN2_UTF8)))), 0) from [dbo].[orders] as _lapstrake where _lapstrake.[changed] = convert(datetime, N'2024-09-25T13:39:40.833', 126) and not (_lapstrake.[id] = 1 or _lapstrake.[id] = 7)
go
select top (1) convert(varbinary(max), convert(nvarchar(max), _lapstrake.[changed], 126)), case when _lapstrake.[changed] > convert(datetime, N'2024-09-25T13:39:40.833', 126) then 1 when _lapstrake.[changed] = convert(datetime, N'2024-09-25T13:39:40.833', 126) then 0 else -1 end from [dbo].[orders] as _lapstrake where _lapstrake.[changed] = convert(datetime, N'2024-09-25T13:39:40.837', 126)
go
select count_big(*), coalesce(sum(convert(bigint, datalength(convert(varchar(max), convert(nvarchar(max), _lapstrake.[id]) collate Latin1_General_100_BIN2_UTF8)))), 0) from [dbo].[orders] as _lapstrake where _lapstrake.[changed] = convert(datetime, N'2024-09-25T13:39:40.837', 126)
go
select count_big(*) from [dbo].[orders] as _lapstrake where _lapstrake.[changed] is null
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
select top (1) convert(varbinary(max), convert(nvarchar(max), _lapstrake.[version], 2)) from [dbo].[orders] as _lapstrake where _lapstrake.[version] is not null and _lapstrake.[version] < 0x0000000000000004 and _lapstrake.[version] < 0x00000000000007D9 order by _lapstrake.[version] desc
go
select top (1) convert(varbinary(max), convert(nvarchar(max), _lapstrake.[version], 2)), 1 from [dbo].[orders] as _lapstrake where _lapstrake.[version] = 0x0000000000000003
go
if @@trancount > 0 rollback transaction
go
