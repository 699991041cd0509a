/** Lists conversations: all, those of one agent, or those that match a search. */
import type { ConversationLine } from '@witan/protocol'
import { idOf } from '../agent/naming.ts'
import { type PageBound, pageBound } from '../identity/page-bound.ts'
import { readLimitOf } from '../identity/rights.ts'
import { pause } from '../identity/turn.ts'
import { readCharacters, type RowPage } from '../identity/row-page.ts'
import type { ListedConversation } from '../store/store.ts'
import type { Page, PageOptions } from './contract.ts'
import { runLine } from './jobs.ts'
import { reached, refuseForeignCursor } from './reach.ts'
import type { Scope } from './scope.ts'
import { limitOf, rowPage } from './page.ts'
import { summary } from './views.ts'

/** Selects conversations, newest first. `search`: all its words occur in the first message, the agent's id or name, or the id. */
interface ConversationFilter extends PageOptions {
  readonly agent?: string
  readonly search?: string
}

/** How many conversations one search examines; the cursor continues after the last of them. */
const mostLooked = 2000
/** How many are examined at once; the process yields in between. */
const chunk = 50

/** A page of conversations. A search may return fewer than `limit`, and still a cursor. */
export async function listConversations(scope: Scope, options: ConversationFilter): Promise<Page<ConversationLine>> {
  const words = plain(options.search ?? '')
    .split(/\s+/)
    .filter((word) => word !== '')
  const read = reader(scope, options)
  await refuseForeignCursor(scope, options, async (id) => (await reached(scope, id, 'read')) !== null)
  if (words.length === 0) return rowPage(options, read, { item: line, id: ({ id }) => id })
  const { cursor: after = null, bound = pageBound() } = options
  return search(scope, { words, limit: limitOf(options), after, read, bound })
}

type Read = (page: RowPage) => Promise<readonly ListedConversation[]>

function reader({ parts, principal, database }: Scope, options: ConversationFilter): Read {
  const agent = options.agent === undefined ? null : idOf(options.agent, parts.registry.current(database).agents)
  const reading = readLimitOf(principal)
  if (reading !== null && reading.createdBy === null && reading.participant === null) return async () => []
  const { createdBy, participant } = reading ?? { createdBy: null, participant: null }
  return (page) => parts.store.listConversations(database, { ...page, agent, createdBy, participant })
}

interface Search {
  readonly words: readonly string[]
  readonly limit: number
  readonly after: string | null
  readonly read: Read
  readonly bound: PageBound
}

/** Examines only the rows of the list, never a log. */
async function search(
  { parts, database }: Scope,
  { words, limit, after, read, bound }: Search,
): Promise<Page<ConversationLine>> {
  const agents = parts.registry.current(database).agents
  const fits = ({ id, agent, firstMessage }: ListedConversation): boolean => {
    const text = plain([firstMessage ?? '', agent, agents.get(agent)?.data.name ?? '', id].join('\n'))
    return words.every((word) => text.includes(word))
  }
  const items: ConversationLine[] = []
  let last = after
  for (let looked = 0; looked < mostLooked; looked += chunk) {
    let isCut = false
    const cut = () => {
      isCut = true
    }
    const rows = await read({ limit: chunk, after: last, bound: { characters: readCharacters, cut } })
    for (const row of rows) {
      if (items.length === limit) return { items, nextCursor: last }
      if (fits(row)) {
        const shown = line(row)
        if (!(await bound.fits(shown))) return { items, nextCursor: last }
        items.push(shown)
      }
      last = row.id
    }
    if (rows.length < chunk && !isCut) return { items, nextCursor: null }
    await pause()
  }
  return { items, nextCursor: last }
}

/** Folds case and Unicode forms. */
function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

function line(row: ListedConversation): ConversationLine {
  const { firstMessage, lastRun } = row
  const live = lastRun?.endedAt === null ? lastRun : undefined
  return { ...summary(row, live), firstMessage, lastRun: lastRun === null ? null : runLine(lastRun) }
}
