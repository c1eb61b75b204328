use lapstrake_tsql;
go
set rowcount 0; set textsize 2147483647; set language us_english; set dateformat ymd; set datefirst 7; set ansi_nulls, ansi_padding, ansi_warnings, arithabort, concat_null_yields_null, quoted_identifier, nocount on; set numeric_roundabort, implicit_transactions, xact_abort off; set deadlock_priority low; set lock_timeout 30000
go
select @@textsize, @@options & 12664, @@lock_timeout, convert(int, serverproperty('ProductMajorVersion')), convert(int, serverproperty('EngineEdition')), convert(int, snapshot_isolation_state), convert(int, is_read_committed_snapshot_on), convert(nvarchar(128), schema_name()) from sys.databases where database_id = db_id()
go
