/** The ingests of a runtime, and what reads their files. */
import { createIngests, type Ingests } from '../ingest/ingests.ts'
import { plainReader } from '../ingest/plain-reader.ts'
import type { Embed } from '../ingest/read-document.ts'
import type { Environment } from '../job/environment.ts'
import type { DocumentReader } from '../knowledge/document.ts'
import type { Store } from '../store/store.ts'
import { documentsOf, isBaseRow } from '../agent/records.ts'
import { baseOfDocuments } from '../knowledge/records.ts'
import { type Registry, upgraded } from '../agent/registry.ts'
import type { RuntimeOptions } from './options.ts'

/** What they are made of. */
interface IngestingParts {
  readonly env: Environment
  readonly store: Store
  readonly registry: Registry
  readonly embed: Embed
}

/** Creates the ingests of a runtime; nothing is read yet. */
export function ingestingOf(
  options: RuntimeOptions,
  { env, store, registry, embed }: IngestingParts,
): { readonly ingests: Ingests; readonly readers: DocumentReader } {
  const { readers = plainReader, takesWork = true } = options
  const { owner, leaseMs, clock, report } = env
  const ingests = createIngests({
    ...{ knowledge: store.knowledge, readers, embed, clock, report, owner, leaseMs, takesWork },
    async baseOf(database, name) {
      await registry.ensure(database)
      const find = () => {
        const row = registry.current(database).bases.get(baseOfDocuments(name))
        return row !== undefined && documentsOf(row) === name ? row.data : null
      }
      const known = find()
      if (known !== null) return known
      await registry.refresh(database)
      return find()
    },
    databases: () => store.listDatabases(),
    async basesOf(database) {
      const rows = (await store.listAgents(database)).filter(isBaseRow)
      return new Map(rows.map((row) => [documentsOf(row), upgraded(row).data]))
    },
  })
  return { ingests, readers }
}
