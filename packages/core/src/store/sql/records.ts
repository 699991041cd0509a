/** The statements on records, for both databases, made from the declarations. */
import type { RecordTable } from '../record.ts'

/** How a database writes what differs. */
export interface Dialect {
  readonly schema: string
  readonly mark: '?' | '$'
  /** The column that keeps the order of rows. */
  readonly number: string
  readonly key: 'unique' | 'primary key'
  readonly text: string
  readonly integer: string
}

/** The statements on one table. Parameter 1 is the database. */
interface RecordSql {
  /** The table and its indexes. */
  readonly create: string
  /** Takes the id and the columns, in the order of `recordColumns`. Returns no row if the id is taken. */
  readonly insert: string
  /** The position of the row with an id. */
  readonly place: string
  /** Rows before a position, `limit` of them, with these values of the filters, in the order of the declaration. */
  list(filters: readonly string[]): string
}

/** The columns of a table with their names in SQL, `id` first. */
export function recordColumns({ columns }: RecordTable): readonly (readonly [name: string, sql: string])[] {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return ['id', ...Object.keys(columns)].map((name) => [name, `"${snake(name)}"`])
}

/** Makes the statements on a table, once for each. */
export function recordStatements(dialect: Dialect): (table: RecordTable) => RecordSql {
  const known = new Map<RecordTable, RecordSql>()
  return (table) => {
    const sql = known.get(table) ?? statementsOn(table, dialect)
    known.set(table, sql)
    return sql
  }
}

function statementsOn(table: RecordTable, { schema, mark, ...dialect }: Dialect): RecordSql {
  const name = `${schema}${table.name}`
  const columns = new Map(recordColumns(table))
  const shown = [...columns].map(([as, sql]) => `${sql} as "${as}"`).join(', ')
  const types = Object.entries({ id: 'text' as const, ...table.columns }).map(([column, type]) => {
    const isText = type === 'text' || type === 'text?'
    return `${columns.get(column)} ${isText ? dialect.text : dialect.integer}${type.endsWith('?') ? '' : ' not null'}`
  })
  const indexes = combinationsOf(table.filters).map((filters) => {
    const own = [table.name, 'by', ...(filters.length === 0 ? ['number'] : filters)].join('_')
    return `create index ${own} on ${name} (${['database', ...filters.map((one) => columns.get(one)), 'number'].join(', ')});`
  })
  const marks = ['', ...columns].map((_, index) => `${mark}${index + 1}`).join(', ')
  return {
    create: `
create table ${name} (
  number ${dialect.number},
  database ${dialect.text} not null check (database <> ''),
  ${types.join(',\n  ')},
  ${dialect.key} (database, id)
);
${indexes.join('\n')}
`,
    insert: `
insert into ${name} (database, ${[...columns.values()].join(', ')}) values (${marks}) on conflict do nothing returning id`,
    place: `select number from ${name} where database = ${mark}1 and id = ${mark}2`,
    list(filters) {
      const wanted = filters.map((one, index) => ` and ${columns.get(one)} = ${mark}${index + 4}`).join('')
      return `select ${shown} from ${name} where database = ${mark}1 and number < ${mark}2${wanted} order by number desc limit ${mark}3`
    },
  }
}

function combinationsOf(filters: readonly string[]): readonly (readonly string[])[] {
  let all: readonly (readonly string[])[] = [[]]
  for (const filter of filters) all = [...all, ...all.map((one) => [...one, filter])]
  return all
}

/** The filters that a page asks for, in the order of the declaration, and their values. */
export function wantedOf(
  { filters }: RecordTable,
  where: Readonly<Record<string, unknown>>,
): { readonly filters: readonly string[]; readonly values: readonly (string | number)[] } {
  const wanted = filters.filter((filter) => where[filter] !== undefined)
  return { filters: wanted, values: wanted.map((filter) => where[filter] as string | number) }
}
