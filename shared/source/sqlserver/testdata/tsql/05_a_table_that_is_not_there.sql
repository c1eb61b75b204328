use lapstrake_tsql;
go
set transaction isolation level snapshot; begin transaction
go
select o.type from sys.objects as o join sys.schemas as s on s.schema_id = o.schema_id where s.name = N'dbo' collate Latin1_General_BIN2 and o.name = N'ORDERS' collate Latin1_General_BIN2 and o.type in ('U', 'V')
go
select top (5) s.name, o.name from sys.objects as o join sys.schemas as s on s.schema_id = o.schema_id where lower(s.name) = lower(N'dbo') and lower(o.name) = lower(N'ORDERS') and o.type in ('U', 'V') order by s.name, o.name
go
if @@trancount > 0 rollback transaction
go
