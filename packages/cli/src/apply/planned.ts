/** One agent, knowledge base or protocol of an apply, and the mistakes in it. */
import type { AgentData, Finding, StoredAgent } from '@witan/protocol'
import { WitanError } from '@witan/protocol'
import type { Change } from './diff.ts'
import type { Written } from './source.ts'

/** One agent, knowledge base or protocol of the files. */
export interface Planned<Data = AgentData, Stored = StoredAgent> {
  readonly name: string
  readonly data: Data
  readonly stored: Stored | null
  /** Against what is stored; for a new agent against one that says nothing. */
  readonly changes: readonly Change[]
}

/** Something that is wrong, and where it was written. */
export type Trouble = Finding & { readonly place: string }

const called = { agent: ['Agent', 'id'], base: ['Knowledge base', 'id'], protocol: ['Protocol', 'name'] } as const

/** The error for an agent, a base or a protocol that the files have twice. */
export function twiceError(name: string, first: Written): WitanError {
  const [what, path] = called[first.kind]
  const hint = `It is already at ${first.place(path)}; keep one of the two.`
  return new WitanError('NAME_TAKEN', `${what} \`${name}\` is there twice.`, { path, hint })
}

/** A mistake in what was written, with its place. */
export function troubleOf(error: WitanError, { value, place }: Written): Trouble {
  const { id = (value as { readonly name?: unknown } | null)?.name } = (value ?? {}) as { readonly id?: unknown }
  const path = error.path ?? ''
  const agent = typeof id === 'string' ? id.slice(0, 80) : ''
  const { code, message: detail } = error
  return { code, severity: 'error', agent, path, detail, hint: error.hint ?? '', place: place(path) }
}
