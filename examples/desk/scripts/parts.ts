/** What a request consists of, and which specialist each part is for. */
import type { Asked } from './play.ts'

/** A part of a request; `agent` is null where no specialist fits. */
export interface Part {
  readonly text: string
  readonly agent: string | null
}

/** By which words a part is for a specialist; the first that fits gets it. */
const routes: readonly (readonly [string, RegExp])[] = [
  [
    'emails',
    /\b(e-?mails?|mails?|mailbox|inbox|outbox|unread|drafts?|reply|signature|send (it|that|this)|(write|wrote) to|(did|does|has) \w+ (write|written|want|say|ask|attach|send))\b/i,
  ],
  ['tasks', /\b(tasks?|to-?dos?|overdue|have to do|t-\w+)\b/i],
  ['meetings', /\b(meet|meetings?|calendar|free|available|busy|schedule|appointments?|slots?)\b/i],
  [
    'data',
    /\b(revenue|sales|sold|sells?|turnover|figures|quarters?|warehouse|reports?|by (region|product|month)|per month)\b/i,
  ],
  [
    'research',
    /\b(contracts?|notice period|terminat\w*|polic(y|ies)|handbook|rules?|travel|hotels?|trains?|(?<!\bbook\b.*)flights?|discounts?|leave|illness|ill|response times?|technician|allowed|service cost)\b/i,
  ],
  [
    'records',
    /\b(accounts?|contacts?|invoices?|customers?|looks after|manager of|phone|owes?|who is (?!(in|on|the|my|free|at)\b)\w+)\b/i,
  ],
]

/** What no specialist does, whatever else the words are about. */
const bought = /^(?:please )?(?:book|order|buy|reserve)\b/i

/** Tools of the desk that are no specialists. */
const notAgents =
  /^(update_plan|ask_council|get_background_sub_agent_result|fetch_sub_agent_progress|message_sub_agent|cancel_background_sub_agent)$/

/** Where a next part begins. */
const seam =
  /(?<=[?!;])\s+|(?<=[a-z\d]{2}\.)\s+(?=[A-Z])|[,;]? (?:and|then|and then) (?=(?:what|when|who|which|how|draft|send|add|create|read|show|list|find|complete|move|reply|book|order)\b)/i
/** What is behind the colon belongs together. */
const quoting = /\b(draft|write|send|reply|answer|e-?mail|mail|add|create|note|sign|begin|start|end)\b[^:“"]*(: |“|")/i
/** Work of many steps. */
const briefing = /^(?:please )?(?:prepare|plan|brief me)\b[^:]*:\s*/i

/** The specialists that are offered, those that were added while the desk runs too. */
export function specialistsOf({ tools }: Asked): readonly { readonly name: string; readonly description: string }[] {
  return tools.filter(({ name }) => !notAgents.test(name))
}

/** True if the request is to be worked on by a plan. */
export function isBriefing(message: string): boolean {
  return /^(?:please )?(?:prepare|plan|brief me)\b/i.test(message) || /\bstep by step\b/i.test(message)
}

/** The parts of a request, in order; parts for one specialist are put together. */
export function partsOf(asked: Asked): readonly Part[] {
  const { message } = asked
  const pieces = briefing.test(message)
    ? message.replace(briefing, '').split(/[,;] (?:and )?|(?<=\?)\s+/)
    : pieced(message)
  const parts: Part[] = []
  for (const text of pieces.map((piece) => piece.trim()).filter((piece) => piece !== '')) {
    const agent = agentFor(text, asked)
    const before = parts.at(-1)
    const goesOn =
      before !== undefined && agent === null && !/\b(book|order|buy|call|play|tell me|what|who)\b/i.test(text)
    if (before !== undefined && (goesOn || before.agent === agent))
      parts[parts.length - 1] = { ...before, text: `${before.text} ${text}` }
    else parts.push({ text, agent })
  }
  return parts
}

function pieced(message: string): readonly string[] {
  const [opening] = quoting.exec(message) ?? []
  if (opening === undefined) return message.split(seam)
  const at = message.indexOf(opening)
  const before = message.slice(0, at).split(seam)
  return [...before.slice(0, -1), `${before.at(-1) ?? ''}${message.slice(at)}`]
}

/** A specialist that was added is meant by its own name, whatever its ending. */
function agentFor(text: string, asked: Asked): string | null {
  const offered = specialistsOf(asked).map(({ name }) => name)
  const known = new Set(routes.map(([name]) => name))
  const added = offered.find(
    (name) => !known.has(name) && text.toLowerCase().includes(name.replace(/(ions?|ors?|s)$/, '')),
  )
  if (added !== undefined) return added
  if (bought.test(text)) return null
  return routes.find(([name, words]) => offered.includes(name) && words.test(text))?.[0] ?? null
}
