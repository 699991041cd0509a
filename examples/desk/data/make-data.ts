/** Makes the data of the example at its first start: a mailbox, a calendar, two databases. What is there already is left as it is. */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { boxes } from '../files/mails.ts'
import { owner } from '../world.ts'
import { seedMails } from './mails.ts'
import { accounts, contacts, invoices, orders, tasks } from './rows.ts'

/** Where things lie. */
export interface Places {
  readonly maildir: string
  readonly calendar: string
  /** Accounts and tasks. */
  readonly office: string
  readonly warehouse: string
  /** Documents for the two knowledge bases, which are read from here. */
  readonly documents: string
  /** What was delegated and changed, line by line. */
  readonly audit: string
}

/** The places below a folder. */
export function placesIn(folder: string): Places {
  return {
    maildir: join(folder, 'mail'),
    calendar: join(folder, 'calendar.ics'),
    office: join(folder, 'office.db'),
    warehouse: join(folder, 'warehouse.db'),
    documents: join(folder, 'documents'),
    audit: join(folder, 'audit.jsonl'),
  }
}

/** Makes what is missing in the folder. Each thing appears whole or not at all, also if two processes do it at once. */
export async function makeData(folder: string): Promise<Places> {
  const places = placesIn(folder)
  mkdirSync(folder, { recursive: true })
  const mails = await seedMails(`"${owner.name}" <${owner.email}>`)
  make(places.maildir, (draft) => {
    for (const box of Object.values(boxes))
      for (const part of ['cur', 'new', 'tmp']) mkdirSync(join(draft, box, part), { recursive: true })
    for (const { name, isRead, bytes } of mails)
      writeFileSync(join(draft, isRead ? 'cur' : 'new', isRead ? `${name}${flagged('S')}` : name), bytes)
  })
  make(places.calendar, (draft) =>
    writeFileSync(draft, readFileSync(here('calendar.ics'), 'utf8').replace(/\r?\n/g, '\r\n')),
  )
  make(places.documents, (draft) => {
    for (const part of ['handbook', 'contracts']) cpSync(here(part), join(draft, part), { recursive: true })
  })
  make(places.office, (draft) => fill(draft, { accounts, contacts, invoices, tasks }))
  make(places.warehouse, (draft) => fill(draft, { orders: orders() }))
  return places
}

/** The flags at the end of a name in a Maildir. Windows has no colon in names. */
export function flagged(flags: string): string {
  return `${process.platform === 'win32' ? ';' : ':'}2,${flags}`
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

function make(place: string, write: (draft: string) => void): void {
  if (existsSync(place)) return
  const draft = `${place}.${process.pid}.draft`
  rmSync(draft, { recursive: true, force: true })
  try {
    write(draft)
    renameSync(draft, place)
  } catch (error) {
    if (!existsSync(place)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

type Row = Readonly<Record<string, string | number | null>>

/** A table for each list of rows, with the columns of its first row. */
function fill(file: string, tables: Readonly<Record<string, readonly Row[]>>): void {
  const database = new DatabaseSync(file)
  try {
    database.exec('begin')
    for (const [table, rows] of Object.entries(tables)) {
      const columns = Object.entries(rows[0] ?? {})
      const declared = columns.map(([name, value]) => `${name} ${typeof value === 'number' ? 'real' : 'text'}`)
      database.exec(`create table ${table} (${declared.join(', ')})`)
      const insert = database.prepare(`insert into ${table} values (${columns.map(() => '?').join(', ')})`)
      for (const row of rows) insert.run(...Object.values(row))
    }
    database.exec('commit')
  } finally {
    database.close()
  }
}
