CREATE SCHEMA sales;
CREATE TABLE public.customers (id int PRIMARY KEY, name text, country text);
CREATE TABLE sales.orders (id int, customer int, amount numeric(10, 2), day date, tags text[]);
CREATE TABLE "Odd Table" ("Id" int, "full name" text);
INSERT INTO customers VALUES (1, 'Ann', 'DE'), (2, 'Bob', 'FR');
INSERT INTO sales.orders VALUES (10, 1, 5.0, '2026-01-01', '{a,b}'), (11, 2, 7.5, '2026-01-02', '{b}');
