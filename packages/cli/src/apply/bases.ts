/** The knowledge bases of an apply: which are new, and which change and how. */
import type { Client } from '@witan/client'
import { defineKnowledge } from '@witan/core/knowledge'
import { baseProblems } from '@witan/core/tooling'
import {
  type KnowledgeBase,
  type KnowledgeBaseInput,
  type StoredKnowledgeBase,
  withoutStoredBase,
} from '@witan/protocol/knowledge'
import { changesBetween } from './diff.ts'
import { type Planned, type Trouble, troubleOf, twiceError } from './planned.ts'
import type { Written } from './source.ts'

/** One knowledge base of the files. */
export type PlannedBase = Planned<KnowledgeBase, StoredKnowledgeBase>

/** The bases of the files, and the mistakes in their form. */
interface ReadBases {
  readonly planned: readonly PlannedBase[]
  readonly errors: readonly Trouble[]
}

/** Reads the stored bases, and compares those of the files with them. */
export async function planBases(client: Client, written: readonly Written[]): Promise<ReadBases> {
  const own = written.filter(({ kind }) => kind === 'base')
  if (own.length === 0) return { planned: [], errors: [] }
  const stored = await storedBases(client)
  const first = new Map<string, Written>()
  const planned: PlannedBase[] = []
  const errors: Trouble[] = []
  for (const one of own) {
    const value = withoutStoredBase(one.value)
    const problems = baseProblems(value)
    errors.push(...problems.map((problem) => troubleOf(problem, one)))
    if (problems.length > 0) continue
    const data = defineKnowledge(value as KnowledgeBaseInput)
    const known = first.get(data.id)
    if (known !== undefined) errors.push(troubleOf(twiceError(data.id, known), one))
    else planned.push(plannedOf(data, stored.get(data.id) ?? null))
    first.set(data.id, known ?? one)
  }
  return { planned, errors }
}

/** All knowledge bases of the database by id. */
export async function storedBases(client: Client): Promise<ReadonlyMap<string, StoredKnowledgeBase>> {
  const stored = new Map<string, StoredKnowledgeBase>()
  for await (const base of client.knowledge.all()) stored.set(base.id, base)
  return stored
}

function plannedOf(data: KnowledgeBase, stored: StoredKnowledgeBase | null): PlannedBase {
  const before = stored === null ? defineKnowledge({ id: data.id }) : withoutStoredBase(stored)
  return { name: data.id, data, stored, changes: changesBetween(before, data) }
}
