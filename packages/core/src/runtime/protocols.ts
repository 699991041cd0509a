/** The protocols of one principal's database. */
import { deleteProtocol, getProtocol, toStoredProtocol } from '../agent/admin/admin.ts'
import { saveTogether } from '../agent/admin/save.ts'
import type { ProtocolRow } from '../agent/records.ts'
import { notFound, nothingHere } from '../identity/not-found.ts'
import { hasRole } from '../identity/rights.ts'
import type { ProtocolAdmin, SavedProtocol } from './contract.ts'
import type { Scope } from './scope.ts'
import { pageOf } from './page.ts'
import { listRevisions, readRevision } from './revisions.ts'

/** The admin of one principal; every method waits until the runtime is ready. */
export function protocolAdmin({ parts, principal, database, ready }: Scope): ProtocolAdmin {
  const admin = parts.adminOf(database, principal)
  const admitted = async (role: 'read' | 'admin', missing = nothingHere()) => {
    await ready()
    if (!hasRole(principal, role, 'admin')) throw missing
  }
  return {
    async list(options = {}) {
      await admitted('read')
      await parts.registry.ensure(database)
      const rows = [...parts.registry.current(database).protocols.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
      return pageOf(rows, options, { item: (row) => toStoredProtocol(admin, row), id: ({ id }) => id })
    },
    get: (name) =>
      admitted('read', notFound('protocol', name)).then(async () =>
        toStoredProtocol(admin, await getProtocol(admin, name)),
      ),
    async save(protocol, options = {}) {
      await admitted('admin')
      const { protocols } = await saveTogether(admin, { protocols: [protocol] }, options)
      return protocols[0] as SavedProtocol
    },
    revisions: {
      async list(name, options = {}) {
        await admitted('read', notFound('protocol', name))
        return listRevisions(admin, (await getProtocol(admin, name)).id, options)
      },
      async get(name, revision) {
        await admitted('read', notFound('protocol', name))
        const { id } = await getProtocol(admin, name)
        return toStoredProtocol(admin, await readRevision<ProtocolRow>(admin, id, revision))
      },
    },
    delete: (name, options = {}) =>
      admitted('admin', notFound('protocol', name)).then(() => deleteProtocol(admin, name, options)),
  }
}
