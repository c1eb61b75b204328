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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'id' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(bigint, h.range_high_key))), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 1) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'customer' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(nvarchar(40), h.range_high_key))), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 2) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'code' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(varchar(20), h.range_high_key))), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 3) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'price' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(decimal(18,4), h.range_high_key))), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 4) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'paid' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(money, h.range_high_key), 2)), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 5) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'ratio' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(float, h.range_high_key), 3)), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 6) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'weight' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(real, h.range_high_key), 3)), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 7) as h where h.range_high_key is not null order by h.step_number
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
select convert(varbinary(max), convert(nvarchar(max), convert(datetime2(7), h.range_high_key), 126)), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 8) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'changed' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(datetime, h.range_high_key), 126)), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 9) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'seen' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(datetimeoffset(3), h.range_high_key), 126)), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 10) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'day' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(date, h.range_high_key), 23)), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 11) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'opens' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(time(3), h.range_high_key), 121)), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 12) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'ref' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(uniqueidentifier, h.range_high_key))), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 13) as h where h.range_high_key is not null order by h.step_number
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
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[orders]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'version' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(binary(8), h.range_high_key), 2)), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[orders]'), 16) as h where h.range_high_key is not null order by h.step_number
go
if @@trancount > 0 rollback transaction
go
set transaction isolation level snapshot; begin transaction
go
select o.type from sys.objects as o join sys.schemas as s on s.schema_id = o.schema_id where s.name = N'dbo' collate Latin1_General_BIN2 and o.name = N'pairs' collate Latin1_General_BIN2 and o.type in ('U', 'V')
go
select coalesce(sum(p.rows), -1), count_big(*) from sys.partitions as p where p.object_id = object_id(N'[dbo].[pairs]') and p.index_id in (0, 1)
go
select coalesce(sum(a.used_pages), -1) from sys.allocation_units as a join sys.partitions as p on p.partition_id = a.container_id where p.object_id = object_id(N'[dbo].[pairs]') and p.index_id in (0, 1)
go
select name, coalesce(system_type_name, user_type_name), is_nullable, collation_name, convert(int, collationproperty(collation_name, 'CodePage')), error_number, error_message from sys.dm_exec_describe_first_result_set(N'select * from [dbo].[pairs] as _lapstrake', null, 0) where is_hidden = 0 or error_number is not null order by column_ordinal
go
select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = object_id(N'[dbo].[pairs]') and s.has_filter = 0 and k.stats_column_id = 1 and c.name = N'tenant' collate Latin1_General_BIN2 order by s.stats_id
go
select convert(varbinary(max), convert(nvarchar(max), convert(int, h.range_high_key))), convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(object_id(N'[dbo].[pairs]'), 1) as h where h.range_high_key is not null order by h.step_number
go
select top (1) convert(varbinary(max), convert(nvarchar(max), _lapstrake.[tenant])), convert(varbinary(max), convert(nvarchar(max), _lapstrake.[ref])) from [dbo].[pairs] as _lapstrake where _lapstrake.[tenant] <= 1 order by _lapstrake.[tenant] desc, _lapstrake.[ref] desc
go
if @@trancount > 0 rollback transaction
go
