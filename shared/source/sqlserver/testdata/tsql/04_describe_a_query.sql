use lapstrake_tsql;
go
set transaction isolation level snapshot; begin transaction
go
select name, coalesce(system_type_name, user_type_name), is_nullable, collation_name, convert(int, collationproperty(collation_name, 'CodePage')), error_number, error_message from sys.dm_exec_describe_first_result_set(N'select * from (
select id, customer from dbo.orders where id > 0 -- all of them
) as _lapstrake', null, 0) where is_hidden = 0 or error_number is not null order by column_ordinal
go
if @@trancount > 0 rollback transaction
go
