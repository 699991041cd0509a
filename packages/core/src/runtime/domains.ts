/** The domains of a runtime, each the address space of one database. */
import { WitanError } from '@witan/protocol'
import { databaseNamePattern } from '@witan/protocol/keys'
import { readDomain, shownName } from '@witan/protocol/names'
import type { RuntimeOptions } from './options.ts'

/** The database of each domain. Throws `CONFIG_INVALID` for what is no domain in canonical form, or no name of a database. */
export function domainsOf(given: RuntimeOptions['domains'] = {}): ReadonlyMap<string, string> {
  const domains = new Map<string, string>()
  for (const [domain, database] of Object.entries(given)) {
    const read = readDomain(domain)
    const path = `domains.${shownName(domain.slice(0, 100))}`
    if (read.value !== domain) {
      const problem = read.problem ?? `write it as \`${read.value}\``
      throw new WitanError('CONFIG_INVALID', `\`${path}\` is no domain: ${problem}.`, {
        path,
        hint: 'Such as `bots.example.com`.',
      })
    }
    if (typeof database !== 'string' || !databaseNamePattern.test(database)) {
      const hint = 'Name the database whose agents have addresses there, such as `default`.'
      throw new WitanError('CONFIG_INVALID', `\`${path}\` names no database.`, { path, hint })
    }
    domains.set(domain, database)
  }
  return domains
}
