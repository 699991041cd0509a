/** Brings the definitions of the code into a database when this process first uses it. */
import { type DatabaseId, isWitanError } from '@witan/protocol'
import { isAddressHere } from '../agent/address.ts'
import { type CodeDefinitions, seedDefinitions } from '../agent/admin/save.ts'
import type { AdminContext } from '../agent/admin/admin.ts'
import { localPrincipal, type Principal } from '../identity/principal.ts'
import type { Registry } from '../agent/registry.ts'

/** What a database begins with. */
interface Definitions {
  readonly code: CodeDefinitions
  readonly registry: Registry
  adminOf(database: DatabaseId, principal: Principal): AdminContext
  report(error: unknown): void
}

/** Prepares databases. */
export interface Preparing {
  prepare(database: string): Promise<void>
  /** Notes that other code has prepared the database, so that `prepare` does nothing. */
  isPrepared(database: string): void
  /** What is stored may have gone back: each database is prepared again when it is next used. */
  again(): void
}

/**
 * Loads a database once, after storing the definitions of the code in it [F10] [D17]. If a database holds something that
 * the code's definitions do not fit, that is reported once, and the database works with what it holds. Rejects if the store fails;
 * the next call tries again.
 */
export function createPreparing(of: Definitions): Preparing {
  const prepared = new Map<string, Promise<void>>()
  return {
    prepare(database) {
      const known = prepared.get(database)
      if (known !== undefined) return known
      const preparing = prepare(of, database).catch((error: unknown) => {
        if (prepared.get(database) === preparing) prepared.delete(database)
        throw error
      })
      prepared.set(database, preparing)
      return preparing
    },
    isPrepared: (database) => void prepared.set(database, Promise.resolve()),
    again() {
      prepared.clear()
      of.registry.again()
    },
  }
}

async function prepare(of: Definitions, database: string): Promise<void> {
  const { registry, report } = of
  try {
    await seed(of, database)
  } catch (error) {
    if (!isWitanError(error) || error.code.startsWith('STORE_')) throw error
    report(error)
  }
  await registry.ensure(database)
}

/** Stores the definitions of the code in one database. Throws what refuses them. */
export async function seed(
  { code: written, adminOf, report }: Pick<Definitions, 'code' | 'adminOf' | 'report'>,
  database: string,
): Promise<void> {
  const { agents, ...others } = written
  if (Object.values(written).every((list) => list.length === 0)) return
  const plain = agents.map((agent) => ('data' in agent ? (agent.data as object) : agent))
  const code = { ...localPrincipal, via: 'code' } as const
  const admin = adminOf(database as DatabaseId, code)
  const own = database === localPrincipal.database ? plain : plain.map((agent) => standing(agent, admin.domains))
  await seedDefinitions(admin, { agents: own, ...others }, report)
}

/** An agent of the code in a further database: one that cannot have its address there stands there without it. */
function standing(agent: object, domains: readonly string[]): object {
  const { address } = agent as { readonly address?: unknown }
  return typeof address === 'string' && !isAddressHere(address, domains) ? { ...agent, address: null } : agent
}
