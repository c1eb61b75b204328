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
select count_big(*) from sys.security_predicates as p join sys.security_policies as s on s.object_id = p.object_id where p.target_object_id = object_id(N'[dbo].[orders]') and p.predicate_type = 0 and s.is_enabled = 1
go
select c.name, case when c.encryption_type is not null then 1 else 0 end from sys.columns as c where c.object_id = object_id(N'[dbo].[orders]') and (c.encryption_type is not null or c.is_masked = 1 and coalesce(has_perms_by_name(db_name(), N'DATABASE', N'UNMASK'), 0) = 0 and coalesce(has_perms_by_name(N'[dbo].[orders]', N'OBJECT', N'UNMASK'), 0) = 0) order by c.column_id
go
select i.name, convert(int, i.is_primary_key), c.name from sys.indexes as i join sys.index_columns as k on k.object_id = i.object_id and k.index_id = i.index_id join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where i.object_id = object_id(N'[dbo].[orders]') and i.is_unique = 1 and i.is_disabled = 0 and i.is_hypothetical = 0 and i.has_filter = 0 and i.type in (1, 2) and k.key_ordinal > 0 order by i.index_id, k.key_ordinal
go
if @@trancount > 0 rollback transaction
go
