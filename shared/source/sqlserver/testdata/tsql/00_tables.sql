-- The tables that the statements of this folder read. Run it first:
--     sqlcmd -b -i 00_tables.sql
if db_id(N'lapstrake_tsql') is null create database lapstrake_tsql;
go
alter database lapstrake_tsql set allow_snapshot_isolation on;
go
use lapstrake_tsql;
go
drop table if exists dbo.orders, dbo.pairs;
go
create table dbo.orders (
  id bigint not null constraint PK_orders primary key, customer nvarchar(40) collate Latin1_General_100_BIN2 null, code varchar(20) collate SQL_Latin1_General_CP1_CI_AS null,
  price decimal(18,4) null, paid money null, ratio float null, weight real null, at datetime2(7) null, changed datetime null, seen datetimeoffset(3) null, day date null, opens time(3) null,
  ref uniqueidentifier null, note nvarchar(max) collate Latin1_General_100_BIN2 null, body varbinary(max) null, version rowversion, doc xml null, kanji varchar(10) collate Japanese_BIN2 null);
insert dbo.orders (id, customer, code, price, paid, ratio, weight, at, changed, seen, day, opens, ref, note, body, doc, kanji) values
  (1, N'ann', 'A-1', 1.5, 0.0001, 0.1, 0.5, '2024-01-01T00:00:00.1234567', '2024-09-25T13:39:40.833', '2024-03-31T02:30:00.001+05:30', '2024-02-29', '12:00:00.5', '6F9619FF-8B86-D011-B42D-00C04FC964FF', N'x', 0x00FF, N'<a/>', 'a'),
  (2, N'bob', 'B-2', -1.5, -0.0001, 0.2, 0.25, '2024-01-02T00:00:00', '2024-09-25T13:39:40.837', '2024-03-31T02:30:00.002+05:30', '2024-03-01', '13:00:00', '00000000-0000-0000-0000-000000000002', N'', 0x, null, null),
  (3, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
create table dbo.pairs (tenant int not null, ref uniqueidentifier not null, n int null, constraint PK_pairs primary key (tenant, ref));
insert dbo.pairs values (1, '00000000-0000-0000-0000-000000000001', 1), (1, '00000000-0000-0000-0000-000000000002', 2), (2, '00000000-0000-0000-0000-000000000001', 3);
update statistics dbo.orders with fullscan;
update statistics dbo.pairs with fullscan;
go
