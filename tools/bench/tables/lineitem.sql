-- TPC-H's largest table with values spread as there: four lines an order,
-- few distinct flags and modes, comments of common words. Every value is
-- a hash of its row's number, so that the table is the same wherever it is made.
CREATE UNLOGGED TABLE lineitem (
  l_orderkey bigint NOT NULL, l_partkey integer NOT NULL, l_suppkey integer NOT NULL, l_linenumber integer NOT NULL,
  l_quantity numeric(15,2) NOT NULL, l_extendedprice numeric(15,2) NOT NULL, l_discount numeric(15,2) NOT NULL, l_tax numeric(15,2) NOT NULL,
  l_returnflag char(1) NOT NULL, l_linestatus char(1) NOT NULL,
  l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL,
  l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL
);
INSERT INTO lineitem
SELECT (i + 3) / 4, part, 1 + (part + i % 4 * 2501) % 10000, 1 + (i + 3) % 4,
  quantity, quantity * (90000 + part / 10 % 20001 + 100 * (part % 1000)) / 100.0,
  (h >> 8 & 1023) % 11 / 100.0, (h >> 18 & 1023) % 9 / 100.0,
  CASE WHEN day + 15 > 1262 THEN 'N' WHEN h & 1 = 0 THEN 'R' ELSE 'A' END, CASE WHEN day > 1262 THEN 'O' ELSE 'F' END,
  date '1992-01-02' + day, date '1992-01-02' + day + ((h >> 28 & 1023) % 121 - 60)::integer, date '1992-01-02' + day + 1 + ((h >> 38 & 1023) % 30)::integer,
  (array['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'])[1 + (h >> 48 & 3)],
  (array['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'])[1 + (h >> 50 & 1023) % 7],
  substr(words[1 + (c & 31)] || ' ' || words[1 + (c >> 5 & 31)] || ' ' || words[1 + (c >> 10 & 31)] || ' ' || words[1 + (c >> 15 & 31)]
    || ' ' || words[1 + (c >> 20 & 31)] || ' ' || words[1 + (c >> 25 & 31)], 1 + (c >> 30 & 7)::integer, 10 + (c >> 33 & 1023)::integer % 34)
FROM (
  SELECT i, h, c, 1 + (p & 2147483647)::integer % 200000 AS part, 1 + (p >> 32 & 1023)::integer % 50 AS quantity, (p >> 42 & 1048575)::integer % 2526 AS day
  FROM (
    SELECT i, hashint8extended(i, 1) & 9223372036854775807 AS h, hashint8extended(i, 2) & 9223372036854775807 AS c, hashint8extended(i, 3) & 9223372036854775807 AS p
    FROM generate_series(1, {rows}::bigint) i
  ) hashes
) numbers,
(SELECT string_to_array('carefully regular deposits sleep furiously above the quickly final packages ironic requests nag slyly express accounts haggle blithely pending theodolites among foxes bold instructions integrate even platelets use silent pinto beans against', ' ') AS words) vocabulary;
ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber);
