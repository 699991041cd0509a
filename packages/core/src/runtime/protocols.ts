/** The protocols of one principal's database. */
import { deleteProtocol, getProtocol, toStoredProtocol } from '../agent/admin/admin.ts'
import { saveTogether } from '../agent/admin/save.ts'
import type { ProtocolAdmin, SavedProtocol } from './contract.ts'
import type { Scope } from './scope.ts'
import { pageOf } from './views.ts'

/** The admin of one principal; every method waits until the runtime is ready. */
export function protocolAdmin({ parts, database, ready }: Scope): ProtocolAdmin {
  const admin = parts.adminOf(database)
  return {
    async list(options = {}) {
      await ready()
      await parts.registry.ensure(database)
      const rows = [...parts.registry.current(database).protocols.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
      return pageOf(
        rows.map((row) => toStoredProtocol(admin, row)),
        options,
        ({ name }) => name,
      )
    },
    get: (name) => ready().then(async () => toStoredProtocol(admin, await getProtocol(admin, name))),
    async save(protocol, options = {}) {
      await ready()
      const { protocols } = await saveTogether(admin, { protocols: [protocol] }, options)
      return protocols[0] as SavedProtocol
    },
    delete: (name, options = {}) => ready().then(() => deleteProtocol(admin, name, options)),
  }
}
