use lapstrake_tsql;
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
select min(_lapstrake.[n]), max(_lapstrake.[n]) from [dbo].[pairs] as _lapstrake
go
select top (1) 1 from [dbo].[pairs] as _lapstrake where _lapstrake.[n] is null
go
if @@trancount > 0 rollback transaction
go
