/** Looks into the transactions of this process, over their own connections. */
import pg from 'pg'

/** What every transaction of a store has set, read by one that is in the middle of it. */
export function settingsInside(): { seen: Set<string>; end(): void } {
  type Query = (config: unknown, ...rest: unknown[]) => unknown
  const client = pg.Client.prototype as unknown as { query: Query }
  const { query } = client
  const seen = new Set<string>()
  const names = ['lock_timeout', 'idle_in_transaction_session_timeout', 'statement_timeout', 'jit']
  const sql = `select ${names.map((name) => `current_setting('${name}')`).join(` || ' ' || `)} as all`
  client.query = function (this: unknown, config, ...rest) {
    const { text = '' } = config as { text?: string }
    if (text !== 'commit') return query.call(this, config, ...rest)
    const reading = query.call(this, { text: sql }) as Promise<{ rows: { all: string }[] }>
    reading.then(({ rows }) => seen.add(rows[0]?.all ?? '')).catch(() => {})
    return query.call(this, config, ...rest)
  }
  return { seen, end: () => Object.assign(client, { query }) }
}
