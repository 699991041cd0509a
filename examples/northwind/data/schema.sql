-- The tables and views of the Northwind trading company. Ids are text in document style
-- ('employees/3', 'customers/ALFKI', 'orders/10248'), dates are ISO text ('1996-07-04'), money is a number in US dollars.

CREATE TABLE regions (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL
) STRICT;

CREATE TABLE territories (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  region_id TEXT NOT NULL REFERENCES regions (id)
) STRICT;

CREATE TABLE employees (
  id TEXT PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  title TEXT NOT NULL,
  title_of_courtesy TEXT NOT NULL,
  birth_date TEXT NOT NULL,
  hire_date TEXT NOT NULL,
  address TEXT NOT NULL,
  city TEXT NOT NULL,
  region TEXT,
  postal_code TEXT NOT NULL,
  country TEXT NOT NULL,
  home_phone TEXT NOT NULL,
  extension TEXT NOT NULL,
  reports_to TEXT REFERENCES employees (id),
  notes TEXT NOT NULL
) STRICT;

CREATE TABLE employee_territories (
  employee_id TEXT NOT NULL REFERENCES employees (id),
  territory_id TEXT NOT NULL REFERENCES territories (id),
  PRIMARY KEY (employee_id, territory_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE customers (
  id TEXT PRIMARY KEY,
  company_name TEXT NOT NULL,
  contact_name TEXT NOT NULL,
  contact_title TEXT NOT NULL,
  address TEXT NOT NULL,
  city TEXT NOT NULL,
  region TEXT,
  postal_code TEXT,
  country TEXT NOT NULL,
  phone TEXT NOT NULL,
  fax TEXT
) STRICT;

CREATE TABLE shippers (
  id TEXT PRIMARY KEY,
  company_name TEXT NOT NULL,
  phone TEXT NOT NULL
) STRICT;

CREATE TABLE suppliers (
  id TEXT PRIMARY KEY,
  company_name TEXT NOT NULL,
  contact_name TEXT NOT NULL,
  contact_title TEXT NOT NULL,
  address TEXT NOT NULL,
  city TEXT NOT NULL,
  region TEXT,
  postal_code TEXT NOT NULL,
  country TEXT NOT NULL,
  phone TEXT NOT NULL,
  fax TEXT,
  home_page TEXT
) STRICT;

CREATE TABLE categories (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL
) STRICT;

CREATE TABLE products (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  supplier_id TEXT NOT NULL REFERENCES suppliers (id),
  category_id TEXT NOT NULL REFERENCES categories (id),
  quantity_per_unit TEXT NOT NULL,
  unit_price REAL NOT NULL,
  units_in_stock INTEGER NOT NULL,
  units_on_order INTEGER NOT NULL,
  reorder_level INTEGER NOT NULL,
  discontinued INTEGER NOT NULL CHECK (discontinued IN (0, 1))
) STRICT;

-- shipped_date is NULL while an order has not been shipped.
CREATE TABLE orders (
  id TEXT PRIMARY KEY,
  customer_id TEXT NOT NULL REFERENCES customers (id),
  employee_id TEXT NOT NULL REFERENCES employees (id),
  order_date TEXT NOT NULL,
  required_date TEXT NOT NULL,
  shipped_date TEXT,
  shipper_id TEXT NOT NULL REFERENCES shippers (id),
  freight REAL NOT NULL,
  ship_name TEXT NOT NULL,
  ship_address TEXT NOT NULL,
  ship_city TEXT NOT NULL,
  ship_region TEXT,
  ship_postal_code TEXT,
  ship_country TEXT NOT NULL
) STRICT;

-- unit_price is the price on the day of the order; discount is a fraction (0.25 is a quarter off).
CREATE TABLE order_details (
  order_id TEXT NOT NULL REFERENCES orders (id),
  product_id TEXT NOT NULL REFERENCES products (id),
  unit_price REAL NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  discount REAL NOT NULL CHECK (discount >= 0 AND discount < 1),
  PRIMARY KEY (order_id, product_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX territories_region ON territories (region_id);
CREATE INDEX employees_reports_to ON employees (reports_to);
CREATE INDEX employee_territories_territory ON employee_territories (territory_id);
CREATE INDEX customers_country ON customers (country, city);
CREATE INDEX products_supplier ON products (supplier_id);
CREATE INDEX products_category ON products (category_id);
CREATE INDEX orders_customer ON orders (customer_id, order_date);
CREATE INDEX orders_employee ON orders (employee_id, order_date);
CREATE INDEX orders_date ON orders (order_date);
CREATE INDEX orders_shipper ON orders (shipper_id);
CREATE INDEX order_details_product ON order_details (product_id);

-- One row for each line of an order, with the product's name; total is after the discount.
CREATE VIEW order_lines (order_id, product_id, product_name, unit_price, quantity, discount, total) AS
SELECT d.order_id, d.product_id, p.name, d.unit_price, d.quantity, d.discount,
  round(d.unit_price * d.quantity * (1 - d.discount), 2)
FROM order_details d JOIN products p ON p.id = d.product_id;

-- One row for each order; total is the sum of its lines after discounts, without freight.
CREATE VIEW order_totals (order_id, customer_id, employee_id, order_date, total) AS
SELECT o.id, o.customer_id, o.employee_id, o.order_date,
  round(sum(d.unit_price * d.quantity * (1 - d.discount)), 2)
FROM orders o JOIN order_details d ON d.order_id = o.id
GROUP BY o.id;

-- One row for each employee with the employee they report to; the manager is NULL for the one at the top.
CREATE VIEW manager_of (employee_id, employee_name, employee_title, manager_id, manager_name) AS
SELECT e.id, e.first_name || ' ' || e.last_name, e.title, m.id, m.first_name || ' ' || m.last_name
FROM employees e LEFT JOIN employees m ON m.id = e.reports_to;

-- One row for each pair of an employee and someone above them; distance is 1 for the direct manager.
CREATE VIEW chain_of_command (employee_id, manager_id, distance) AS
WITH RECURSIVE chain (employee_id, manager_id, distance) AS (
  SELECT id, reports_to, 1 FROM employees WHERE reports_to IS NOT NULL
  UNION ALL
  SELECT c.employee_id, e.reports_to, c.distance + 1
  FROM chain c JOIN employees e ON e.id = c.manager_id
  WHERE e.reports_to IS NOT NULL
)
SELECT employee_id, manager_id, distance FROM chain;

-- One row for each customer, also for those who never ordered; total is without freight.
CREATE VIEW customer_totals (customer_id, company_name, country, orders, total, last_order_date) AS
SELECT c.id, c.company_name, c.country, count(t.order_id), round(coalesce(sum(t.total), 0), 2), max(t.order_date)
FROM customers c LEFT JOIN order_totals t ON t.customer_id = c.id
GROUP BY c.id;
