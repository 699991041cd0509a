/** The protocols of an apply: which are new, and which change and how. */
import type { Client } from '@witan/client'
import { defineProtocol } from '@witan/core'
import { protocolProblems } from '@witan/core/tooling'
import type { Protocol, ProtocolInput, StoredProtocol } from '@witan/protocol/protocols'
import { withoutStored } from '@witan/protocol/schemas'
import { changesBetween } from './diff.ts'
import { type Planned, type Trouble, troubleOf, twiceError } from './planned.ts'
import type { Written } from './source.ts'

/** One protocol of the files. */
export type PlannedProtocol = Planned<Protocol, StoredProtocol>

/** The protocols of the files, the mistakes in their form, and where a path of the server's check was written. */
interface ReadProtocols {
  readonly planned: readonly PlannedProtocol[]
  readonly errors: readonly Trouble[]
  place(path: string): string | undefined
}

/** Reads the stored protocols, and compares those of the files with them. */
export async function planProtocols(client: Client, written: readonly Written[]): Promise<ReadProtocols> {
  const own = written.filter(({ kind }) => kind === 'protocol')
  if (own.length === 0) return { planned: [], errors: [], place: () => undefined }
  const stored = await storedProtocols(client)
  const first = new Map<string, Written>()
  const planned: PlannedProtocol[] = []
  const errors: Trouble[] = []
  for (const one of own) {
    const value = withoutStored(one.value)
    const problems = protocolProblems(value)
    errors.push(...problems.map((problem) => troubleOf(problem, one)))
    if (problems.length > 0) continue
    const data = defineProtocol(value as ProtocolInput)
    const known = first.get(data.name)
    if (known !== undefined) errors.push(troubleOf(twiceError(data.name, known), one))
    else planned.push(plannedOf(data, stored.get(data.name) ?? null))
    first.set(data.name, known ?? one)
  }
  // The check of the server names a protocol as `protocols.<name>`.
  return { planned, errors, place: (path) => first.get(path.replace(/^protocols\./, ''))?.place('name') }
}

/** All protocols of the database by name. */
export async function storedProtocols(client: Client): Promise<ReadonlyMap<string, StoredProtocol>> {
  const stored = new Map<string, StoredProtocol>()
  for await (const protocol of client.protocols.all()) stored.set(protocol.name, protocol)
  return stored
}

function plannedOf(data: Protocol, stored: StoredProtocol | null): PlannedProtocol {
  const silent = { name: data.name, purpose: '', processing: '', messages: [], order: null }
  const before = stored === null ? silent : withoutStored(stored)
  return { name: data.name, data, stored, changes: changesBetween(before, data) }
}
