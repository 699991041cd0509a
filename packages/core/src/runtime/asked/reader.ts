/** The model calls of conversations, for those who may read everything. */
import type { EntryReaders, ModelCall, ModelCallLine } from '@witan/protocol/schemas'
import { storedOf } from '../../conversation/stored-values.ts'
import { notFound } from '../../identity/not-found.ts'
import { readsAll } from '../../identity/rights.ts'
import type { ConversationRow } from '../../store/store.ts'
import { pageOfStream, type Page, type PageOptions } from '../page.ts'
import { conversationRow } from '../reach.ts'
import type { ModelCallFilter, ModelCallReader } from '../reading-contract.ts'
import type { Scope } from '../scope.ts'
import { loadLog } from './loaded-log.ts'
import { type Mask, masksOf } from './mask.ts'
import { readersOfEntry } from './readers.ts'
import { type ModelCallRow, modelCallRows } from './rows.ts'
import { modelCallLine, type ShowContext, wholeModelCall } from './view.ts'

/** The model calls that one principal may read. */
export function modelCallReader(scope: Scope): ModelCallReader {
  const { ready } = scope
  return {
    list: (conversation, options = {}) => ready().then(() => list(scope, conversation, options)),
    get: (conversation, id) => ready().then(() => get(scope, conversation, id)),
    readers: (conversation, seq) => ready().then(() => readers(scope, conversation, seq)),
  }
}

async function rowFor(scope: Scope, id: string): Promise<ConversationRow> {
  if (!readsAll(scope.principal)) throw notFound('conversation', id)
  return conversationRow(scope, id)
}

async function list(
  scope: Scope,
  conversation: string,
  options: PageOptions & ModelCallFilter,
): Promise<Page<ModelCallLine>> {
  const row = await rowFor(scope, conversation)
  const show = showing(scope, row)
  const rows = modelCallRows(await loadLog(scope, row), options)
  return pageOfStream(rows, options, { item: (one) => modelCallLine(one, show(one)), id: ({ id }) => id })
}

async function get(scope: Scope, conversation: string, id: string): Promise<ModelCall> {
  const row = await rowFor(scope, conversation)
  const show = showing(scope, row)
  for await (const one of modelCallRows(await loadLog(scope, row), {}))
    if (one.id === id) return wholeModelCall(one, show(one))
  throw notFound('model call', id)
}

async function readers(scope: Scope, conversation: string, seq: number): Promise<EntryReaders> {
  const row = await rowFor(scope, conversation)
  if (!Number.isInteger(seq) || seq < 1 || seq > row.lastSeq) throw notFound('entry', String(seq))
  return { items: [...(await readersOfEntry(await loadLog(scope, row), seq))] }
}

/** What is shown of a model call depends on what is hidden from its agent now. */
function showing({ parts, database }: Scope, row: ConversationRow): (one: ModelCallRow) => ShowContext {
  const maskOf = masksOf(storedOf(row.parameters).conversationValues)
  return ({ call }) => {
    const mask: Mask = maskOf(call)
    const load = (digest: string) => parts.env.content({ database, conversation: row.id, digest })
    return { mask, load, model: (name) => parts.env.model(name) }
  }
}
