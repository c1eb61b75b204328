-- The table of lineitem.sql in values of the same spread: h, c and p are other
-- hashes of a row's number.
CREATE TABLE lineitem (
  l_orderkey bigint NOT NULL, l_partkey integer NOT NULL, l_suppkey integer NOT NULL, l_linenumber integer NOT NULL,
  l_quantity decimal(15,2) NOT NULL, l_extendedprice decimal(15,2) NOT NULL, l_discount decimal(15,2) NOT NULL, l_tax decimal(15,2) NOT NULL,
  l_returnflag char(1) NOT NULL, l_linestatus char(1) NOT NULL,
  l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL,
  l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL,
  PRIMARY KEY (l_orderkey, l_linenumber)
) ENGINE = InnoDB CHARACTER SET utf8mb4;
INSERT INTO lineitem
SELECT (i + 3) DIV 4, part, 1 + (part + i % 4 * 2501) % 10000, 1 + (i + 3) % 4,
  quantity, quantity * (90000 + part DIV 10 % 20001 + 100 * (part % 1000)) / 100,
  (h >> 8 & 1023) % 11 / 100, (h >> 18 & 1023) % 9 / 100,
  CASE WHEN day + 15 > 1262 THEN 'N' WHEN h & 1 = 0 THEN 'R' ELSE 'A' END, CASE WHEN day > 1262 THEN 'O' ELSE 'F' END,
  date '1992-01-02' + INTERVAL day DAY, date '1992-01-02' + INTERVAL cast(day + (h >> 28 & 1023) % 121 AS signed) - 60 DAY, date '1992-01-02' + INTERVAL day + 1 + (h >> 38 & 1023) % 30 DAY,
  elt(1 + (h >> 48 & 3), 'DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'),
  elt(1 + (h >> 50 & 1023) % 7, 'REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'),
  substr(concat_ws(' ', substring_index(substring_index(words, ' ', 1 + (c >> 0 & 31)), ' ', -1),
    substring_index(substring_index(words, ' ', 1 + (c >> 5 & 31)), ' ', -1),
    substring_index(substring_index(words, ' ', 1 + (c >> 10 & 31)), ' ', -1),
    substring_index(substring_index(words, ' ', 1 + (c >> 15 & 31)), ' ', -1),
    substring_index(substring_index(words, ' ', 1 + (c >> 20 & 31)), ' ', -1),
    substring_index(substring_index(words, ' ', 1 + (c >> 25 & 31)), ' ', -1)), 1 + (c >> 30 & 7), 10 + (c >> 33 & 1023) % 34)
FROM (
  SELECT i, h, c, 1 + (p & 2147483647) % 200000 AS part, 1 + (p >> 32 & 1023) % 50 AS quantity, (p >> 42 & 1048575) % 2526 AS day
  FROM (
    SELECT seq AS i, cast(conv(left(md5(seq), 15), 16, 10) AS unsigned) AS h, cast(conv(left(sha1(seq), 15), 16, 10) AS unsigned) AS c, cast(conv(right(md5(seq), 15), 16, 10) AS unsigned) AS p
    FROM seq_1_to_{rows} LIMIT {rows} -- with a limit, a hash is computed once
  ) hashes
) numbers,
(SELECT 'carefully regular deposits sleep furiously above the quickly final packages ironic requests nag slyly express accounts haggle blithely pending theodolites among foxes bold instructions integrate even platelets use silent pinto beans against' AS words) vocabulary;
