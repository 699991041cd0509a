/** Holds what the Northwind database promises: all the rows, sound references, a hierarchy, and making it twice is free. */

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { makeDatabase } from './make-database.ts'

const folder = mkdtempSync(join(tmpdir(), 'northwind-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const allRows = {
  regions: 4,
  territories: 53,
  employees: 9,
  employee_territories: 49,
  customers: 91,
  shippers: 3,
  suppliers: 29,
  categories: 8,
  products: 77,
  orders: 830,
  order_details: 2155,
}

function open(name: string): DatabaseSync {
  const file = join(folder, name)
  makeDatabase(file)
  return new DatabaseSync(file, { readOnly: true })
}

test('the database has all the rows and no broken reference', () => {
  const file = join(folder, 'whole.db')
  assert.deepEqual(makeDatabase(file).tables, allRows)
  const database = new DatabaseSync(file, { readOnly: true })
  assert.deepEqual(database.prepare('PRAGMA foreign_key_check').all(), [])
  assert.equal(database.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok')
  database.close()
})

test('an employee has a manager, and the manager of the manager is above them too', () => {
  const database = open('managers.db')
  const manager = database.prepare("SELECT * FROM manager_of WHERE employee_id = 'employees/3'").get()
  assert.equal(manager?.employee_name, 'Janet Leverling')
  assert.equal(manager?.manager_id, 'employees/2')
  assert.equal(manager?.manager_name, 'Andrew Fuller')
  const above = database
    .prepare("SELECT manager_id, distance FROM chain_of_command WHERE employee_id = 'employees/9' ORDER BY distance")
    .all()
  assert.deepEqual(
    above.map((row) => [row.manager_id, row.distance]),
    [
      ['employees/5', 1],
      ['employees/2', 2],
    ],
  )
  assert.equal(database.prepare('SELECT count(*) AS n FROM manager_of WHERE manager_id IS NULL').get()?.n, 1)
  database.close()
})

test('the totals are those that Northwind is known for', () => {
  const database = open('totals.db')
  const order = database.prepare("SELECT * FROM order_totals WHERE order_id = 'orders/10248'").get()
  assert.deepEqual(
    { ...order },
    {
      order_id: 'orders/10248',
      customer_id: 'customers/VINET',
      employee_id: 'employees/5',
      order_date: '1996-07-04',
      total: 440,
    },
  )
  const all = database.prepare('SELECT count(*) AS orders, round(sum(total)) AS total FROM order_totals').get()
  assert.deepEqual({ ...all }, { orders: 830, total: 1265793 })
  assert.equal(database.prepare('SELECT round(sum(freight), 2) AS freight FROM orders').get()?.freight, 64942.69)
  const best = database.prepare('SELECT customer_id, orders FROM customer_totals ORDER BY total DESC LIMIT 1').get()
  assert.deepEqual({ ...best }, { customer_id: 'customers/QUICK', orders: 28 })
  database.close()
})

test('made again, a current file is left alone and any other is replaced', () => {
  const file = join(folder, 'again.db')
  makeDatabase(file)
  const first = statSync(file)
  assert.deepEqual(makeDatabase(file).tables, allRows)
  assert.equal(statSync(file).ino, first.ino)
  writeFileSync(file, 'this is no database')
  assert.deepEqual(makeDatabase(file).tables, allRows)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes('draft')),
    [],
  )
  assert.ok(existsSync(file))
})
