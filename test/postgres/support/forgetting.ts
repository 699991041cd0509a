/** Statements that forget their database: what keeps databases apart then is the wall of PostgreSQL alone. */
import pg from 'pg'

/** Reads "of this database" as "of any". */
const named = /\b(\w+\.)?database = \$1\b/g

type Query = (config: unknown, ...rest: unknown[]) => unknown

/**
 * Lets every statement of this process forget its database for as long as `work` takes, and returns how many did. Connections that
 * were opened before keep the statements that they have prepared, so `work` opens its own store.
 */
export async function forgettingDatabases(work: () => Promise<void>): Promise<number> {
  const forgotten = new Set<string>()
  const { query } = pg.Client.prototype as unknown as { query: Query }
  const forgetful: Query = function (this: unknown, config, ...rest) {
    return query.call(this, forget(config, forgotten), ...rest)
  }
  const client = pg.Client.prototype as unknown as { query: Query }
  client.query = forgetful
  try {
    await work()
  } finally {
    client.query = query
  }
  return forgotten.size
}

function forget(config: unknown, forgotten: Set<string>): unknown {
  if (typeof config !== 'object' || config === null || !('text' in config)) return config
  const text = String(config.text).replace(named, '$$1::text is not null')
  if (text !== config.text) forgotten.add(text)
  return { ...config, text }
}
