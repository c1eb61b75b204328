use lapstrake_tsql;
go
set transaction isolation level snapshot; begin transaction
go
select convert(nvarchar(128), db_name()), convert(nvarchar(128), serverproperty('ServerName')), convert(nvarchar(36), service_broker_guid) from sys.databases where database_id = db_id()
go
if @@trancount > 0 rollback transaction
go
