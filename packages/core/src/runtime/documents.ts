/** Documents as readers see them: a page of the messages and calls of one agent on one path. */
import { type Document, WitanError } from '@witan/protocol'
import { type DocumentFold, planOf } from '../conversation/document.ts'
import { assertWithin, type PageStart, pageOf, readCursor } from '../conversation/document-page.ts'
import { storedOf } from '../conversation/stored-values.ts'
import { conversationOf } from '../conversation/warm-documents.ts'
import { bind } from '../parameter/bind.ts'
import { pageBound } from '../identity/page-bound.ts'
import { scrubberOfValues } from '../parameter/scrub.ts'
import { visibleValues } from '../parameter/visibility.ts'
import type { ConversationRow } from '../store/store.ts'
import type { DocumentOptions } from './contract.ts'
import { frozen } from '../identity/frozen.ts'
import { notFound } from '../identity/not-found.ts'
import { readsAll } from '../identity/rights.ts'
import { reached } from './reach.ts'
import type { Scope } from './scope.ts'
import { limitOf } from './page.ts'

/** One conversation document. Throws `NOT_FOUND`, `RUN_INPUT_INVALID`, `BODY_INVALID`. */
export async function getDocument(scope: Scope, path: string, options: DocumentOptions): Promise<Document> {
  const { parts, database } = scope
  const start = startOf(path, options)
  const limit = limitOf(options)
  const id = conversationOf(path)
  const row = await reached(scope, id, 'read')
  if (row === null) throw notFound('document', path)
  const { fold, last } = await parts.documents.latest({ database, path })
  if (fold.definition === null && path !== id) throw notFound('document', path)
  assertWithin(start, last?.seq ?? 0)
  // What is read from the fold before the first wait is of one time: another reader may advance the fold meanwhile.
  const { definition, visible, agents } = fold
  const { detail = 'detailed', bound = pageBound() } = options
  const rest = {
    linkedConversations: [...fold.linked],
    openCalls: [...fold.open.values()].map(frozen),
    plan: planOf(fold),
    totalUsage: { ...fold.usage },
    createdAt: iso(fold.createdAt ?? row.createdAt),
    lastMessageAt: iso(fold.messages.at(-1)?.at ?? row.createdAt),
    expiresAt: row.expiresAt === null ? null : iso(row.expiresAt),
  }
  const speakers = [...agents]
  const { messages, ...cursors } = await pageOf(fold, {
    start,
    limit,
    detail,
    bound,
    scrub: scrubberOf(row),
    isPlain: !readsAll(scope.principal),
  })
  return {
    id: path,
    agent: definition?.agent ?? row.agent,
    agents: speakers,
    parameters: await shownParameters(scope, row, { path, definition, visible }),
    messages,
    ...rest,
    ...cursors,
  }
}

/** Takes values out of the reasoning of models that could see them then, because they were hidden later [E19]. */
function scrubberOf(row: ConversationRow): ((text: string) => string) | null {
  const { conversationValues, hiddenAfter } = storedOf(row.parameters)
  if (hiddenAfter.size === 0) return null
  return scrubberOfValues([...hiddenAfter.keys()].map((name) => conversationValues.get(name)?.value))
}

const iso = (at: number): string => new Date(at).toISOString()

function startOf(path: string, { before, after, cursor }: DocumentOptions): PageStart {
  const given = Object.entries({ before, after, cursor }).flatMap(([name, value]) => (value == null ? [] : [name]))
  if (given.length > 1)
    throw new WitanError(
      'RUN_INPUT_INVALID',
      `${given.map((name) => `\`${name}\``).join(' and ')} cannot be combined.`,
      {
        path: given[0] ?? '',
        hint: 'Send only one of `before`, `after` and `cursor`: each sets the start of the page.',
      },
    )
  if (cursor != null) return readCursor(path, cursor)
  if (before !== undefined) return { kind: 'before', date: dateOf(before, 'before') }
  if (after !== undefined) return { kind: 'after', date: dateOf(after, 'after') }
  return { kind: 'newest' }
}

function dateOf(text: string, name: string): number {
  const at = Date.parse(text)
  if (!Number.isNaN(at)) return at
  throw new WitanError('BODY_INVALID', `\`${name}\` must be an ISO date.`, {
    path: name,
    hint: 'Write a time such as 2026-01-31T12:00:00Z.',
  })
}

/** The names that the document's agent declares; hidden ones without their value [C18]. */
async function shownParameters(
  scope: Scope,
  row: ConversationRow,
  { path, definition, visible }: Pick<DocumentFold, 'path' | 'definition' | 'visible'>,
): Promise<Document['parameters']> {
  const { parts, database } = scope
  const shown: Document['parameters'] = {}
  const agent =
    definition === null ? parts.registry.current(database).agents.get(row.agent)?.data : await pinned(scope, definition)
  if (agent == null) return shown
  const { conversationValues } = storedOf(row.parameters)
  const values =
    visible ??
    visibleValues(agent.parameters, bind(agent.parameters, { parent: null, conversationValues, map: {} }).bound)
  for (const { name } of agent.parameters) {
    const hiddenMeanwhile = path === row.id && conversationValues.get(name)?.hidden === true
    const open = Object.hasOwn(values, name) && !hiddenMeanwhile
    shown[name] = open ? { value: frozen(values[name]), sendToModel: true } : { sendToModel: false }
  }
  return shown
}

async function pinned({ parts, database }: Scope, { agent, revision }: NonNullable<DocumentFold['definition']>) {
  if (revision === null) return null
  await parts.registry.ensureRevision(database, agent, revision)
  return parts.registry.revision(database, agent, revision)
}
