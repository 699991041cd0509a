/** A conversation document as the API returns it, folded from the entries of its path and of its child calls [R18–R22, Rb37]. */
import type { Document, Interruption, UsageCounters } from '@witan/protocol'
import { refusedAnswer } from './hooks.ts'
import { plainDetail } from '@witan/protocol/entries'
import { addCounters, addEmbeddings, addModelCall, addSpentElsewhere, authorKindOf } from '@witan/protocol/entries'
import { embeddingsIn, emptyCounters } from '@witan/protocol/entries'
import type { AgentEndBody, CallPlace, CritiqueBody, Entry, LoggedToolCall } from '@witan/protocol/entries'
import { addCall, type Plan, planNow, revised } from '@witan/protocol/plan'
import type { FileReference } from '@witan/protocol/files'
import { type Decision, decisionOf, decisionOfHook, isRefusal } from '../hook/decision.ts'
import { callersView, type Gathered, handleOf, beginGathering, gatherFrom, plainView } from './callers-view.ts'
import { isOfStep } from './plan.ts'
import { askedView, isRequired } from './fold-interruptions.ts'
import { refusedResult } from './said.ts'

/** A tool call of a message. */
export interface ShownCall {
  readonly id: string
  readonly name: string
  /** Its arguments, as text. */
  readonly written: string
  result: unknown
  /** The same without what a model's server said, for who may not read that; undefined where both are the same. */
  plainResult?: unknown
  document: string | null
  /** Shown only with full detail. */
  readonly cost: { startedAt: number | null; endedAt: number | null; usage: UsageCounters | null }
}

/** A message. One entry may give several messages, which `part` numbers. */
export type KeptMessage = Omit<Message, 'toolCalls' | 'date'> & {
  readonly toolCalls: readonly ShownCall[]
  /** The text without what a model's server said, for who may not read that; undefined where both are the same. */
  readonly plainText?: string
  readonly at: number
  readonly part: number
}

type Message = Document['messages'][number]

/** A document, folded from the entries taken so far. */
export interface DocumentFold {
  readonly path: string
  readonly messages: KeptMessage[]
  /** The agents that spoke in it, in the order of their first words. */
  readonly agents: Set<string>
  readonly linked: Set<string>
  readonly open: Map<string, Interruption>
  readonly usage: UsageCounters
  /** The agent of the last call on this document, without a revision if it is on another server, and the values its model could see. */
  definition: { readonly agent: string; readonly revision: number | null } | null
  visible: Readonly<Record<string, unknown>> | null
  createdAt: number | null
  /** Calls of workflows and of agents on other servers: their answers are messages, since no model replies here. */
  readonly answerers: Set<string>
  /** Tool calls by the agent call and tool call id that asked for them. */
  readonly asked: Map<string, ShownCall>
  /** Which tool call a tool's or child's call answers. */
  readonly answers: Map<string, string>
  /** Texts and errors of children, by call, for edges that return more than the answer. */
  readonly gathered: Map<string, Gathered>
  /** The plan of each agent that has one here. */
  readonly plans: Map<string, Plan>
  /** The agents of its live calls, and whether each works on its plan: one that it wrote in the call, or began with. */
  readonly callers: Map<string, { readonly agent: string; readonly isPlanned: boolean; readonly from?: number }>
  /** The agent whose plan is shown: the last that wrote one, or began with one. */
  planner: string | null
}

/** An empty document. */
export function emptyDocument(path: string): DocumentFold {
  return {
    path,
    messages: [],
    agents: new Set(),
    linked: new Set(),
    open: new Map(),
    usage: emptyCounters(),
    definition: null,
    visible: null,
    createdAt: null,
    answerers: new Set(),
    asked: new Map(),
    answers: new Map(),
    gathered: new Map(),
    plans: new Map(),
    callers: new Map(),
    planner: null,
  }
}

/** Folds one entry of the conversation. Entries must come in order. */
export function applyEntry(document: DocumentFold, entry: Entry): void {
  if (document.gathered.size > 0) gatherFrom(document.gathered, entry)
  if (entry.type === 'start' && entry.kind === 'agent') applyStart(document, entry)
  else if (entry.place.document === document.path) applyOwn(document, entry)
  else applyChildEnd(document, entry)
  applyPlan(document, entry)
}

function applyPlan(document: DocumentFold, entry: Entry): void {
  const { place } = entry
  const { plans, callers } = document
  const caller = callers.get(place.parentCall ?? '')
  if (entry.type === 'start' && caller?.isPlanned === true && isOfStep(entry))
    addCall(plans.get(caller.agent), place.call)
  if (place.document !== document.path) return
  if (entry.type === 'plan') {
    plans.set(place.author, revised(plans.get(place.author) ?? null, entry.body))
    callers.set(place.parentCall ?? '', { agent: place.author, isPlanned: true })
    document.planner = place.author
  } else if (entry.type === 'start' && entry.kind === 'agent') {
    callers.set(place.call, { agent: place.author, isPlanned: entry.body.plan !== undefined, from: entry.seq })
    if (entry.body.history === 'isolated') plans.delete(place.author)
    if (plans.has(place.author)) document.planner = place.author
  } else if (entry.kind === 'agent') callers.delete(place.call)
}

/** The plan that is shown of a document. */
export function planOf({ plans, planner }: DocumentFold): Plan | null {
  return planNow(plans.get(planner ?? '') ?? null)
}

function applyStart(document: DocumentFold, entry: Entry & { type: 'start'; kind: 'agent' }): void {
  const { place, body } = entry
  if (document.gathered.size > 0) beginGathering(document.gathered, { place, body })
  if (place.document === document.path && body.handedFrom !== undefined) applyInitial(document, entry)
  else if (place.document === document.path) {
    const isRemote = body.remote !== undefined
    document.definition = { agent: body.remote ?? body.agent, revision: isRemote ? null : body.revision }
    if (isRemote) document.answerers.add(place.call)
    document.visible = body.parameters
    document.createdAt ??= entry.at
    if (place.parentCall !== null) {
      const author = place.agentPath.split('/').at(-2) ?? 'user'
      const soFar = body.exchange?.soFar ?? ''
      const text = soFar === '' ? body.message : `${soFar}\n\n${body.message}`
      say(document, entry, { role: 'user', author, to: body.remote ?? body.agent, text, parts: partsOf(text) })
    }
    applyInitial(document, entry)
  } else applyChildStart(document, entry)
}

/** The calls that an agent's start brings along. */
function applyInitial(document: DocumentFold, entry: Entry & { type: 'start'; kind: 'agent' }): void {
  const { place, body } = entry
  const initial = body.initial.map((call) => shownCall(document, call, place.call))
  if (initial.length > 0) call(document, entry, { author: body.agent, toolCalls: initial })
}

function applyChildStart(document: DocumentFold, entry: Entry & { type: 'start'; kind: 'agent' }): void {
  const { place, body } = entry
  const key = `${place.parentCall} ${body.toolCallId}`
  const asked = document.asked.get(key)
  if (body.step !== undefined && isChildPath(document.path, place.document))
    document.answerers.add(place.parentCall ?? '')
  // The children of an agent that control was handed to have its name in their paths.
  if (asked !== undefined || isChildPath(document.path, place.document)) {
    if (asked !== undefined) {
      asked.document = place.document
      asked.cost.startedAt = entry.at
      if (body.background !== undefined) asked.result = handleOf(place.call, body.toolCallId)
    }
    if (body.answer !== undefined) beginGathering(document.gathered, entry)
    document.linked.add(place.document)
    document.answers.set(place.call, key)
  }
}

function isChildPath(path: string, other: string): boolean {
  return other.startsWith(`${path}/`) && !other.slice(path.length + 1).includes('/')
}

function applyChildEnd(document: DocumentFold, entry: Entry): void {
  const asked = document.asked.get(document.answers.get(entry.place.call) ?? '')
  if (asked === undefined || entry.kind !== 'agent') return
  if (entry.type !== 'end' && entry.type !== 'error') return
  const gathered = document.gathered.get(entry.place.call) ?? null
  asked.result = callersView(entry.body, gathered)
  if (entry.type === 'error' || gathered?.errors.length) asked.plainResult = plainView(entry.body, gathered)
  const { byAgent: _, ...usage } = entry.body.usage ?? { ...emptyCounters(), byAgent: {} }
  asked.cost.endedAt = entry.at
  asked.cost.usage = usage
}

function applyOwn(document: DocumentFold, entry: Entry): void {
  const { place } = entry
  addEmbeddings(document.usage, embeddingsIn(entry))
  if (entry.type === 'message') {
    // What peers say to each other stands in the start and the reply of the call that answers.
    if (entry.body.exchange !== undefined) return
    document.createdAt ??= entry.at
    const { author, authorKind, text: plainText, forModel: text = plainText, files } = entry.body
    const kind = authorKind === undefined ? {} : { authorKind }
    const plain = text === plainText ? {} : { plainText }
    say(document, entry, { role: 'user', author, ...kind, ...plain, to: null, text, parts: partsOf(text, files) })
    applyArtificial(document, entry)
  } else if (entry.type === 'end' && entry.kind === 'model') applyReply(document, entry)
  else if (entry.type === 'end' && entry.kind === 'agent') applyAnswer(document, entry)
  else if (entry.type === 'critique') applyCritique(document, entry.body)
  else if (entry.type === 'hook') applyDecision(document, place, decisionOfHook(entry.body))
  else if (entry.type === 'checkpoint') addSpentElsewhere(document.usage, entry.body)
  else if (entry.type === 'notice') {
    if (entry.body.code === 'USAGE_INCOMPLETE') document.usage.complete = false
    const decision = decisionOf(entry)
    if (decision !== null) applyDecision(document, place, decision)
    if (entry.body.code === 'REFLECTION_SKIPPED') undraft(document, entry.place.author)
  } else if (entry.type === 'start' && entry.kind === 'tool') {
    const key = `${place.parentCall} ${entry.body.toolCallId}`
    document.answers.set(place.call, key)
    document.usage.toolCalls += 1
    const asked = document.asked.get(key)
    if (asked !== undefined) asked.cost.startedAt = entry.at
  } else if (entry.kind === 'tool') {
    const asked = document.asked.get(document.answers.get(place.call) ?? '')
    if (asked === undefined) return
    asked.cost.endedAt = entry.at
    if (entry.type === 'end') {
      const { result, forModel = result } = entry.body
      asked.result = forModel
      if (forModel !== result) asked.plainResult = result
    }
    if (entry.type === 'error') {
      asked.result = { error: entry.body.detail }
      asked.plainResult = { error: plainDetail(entry.body) }
    }
  } else if (isRequired(entry)) document.open.set(entry.body.id, askedView(entry.body))
  else if (entry.type === 'resolved') document.open.delete(entry.body.id)
}

/** Artificial actions come after their message, as tool calls of the agent [Rb52]. */
function applyArtificial(document: DocumentFold, entry: Entry & { type: 'message' }): void {
  const { artificialActions } = entry.body
  if (artificialActions === undefined) return
  const toolCalls = artificialActions.map((one) => {
    const shown = shownCall(document, one, entry.place.call)
    shown.result = one.response
    return shown
  })
  call(document, entry, { author: entry.place.agentPath.split('/').at(-1) ?? '', toolCalls })
}

/** Adds tool calls that no model reply asked for, at the position of their entry. */
function call(document: DocumentFold, entry: Entry, of: Pick<KeptMessage, 'author' | 'toolCalls'>): void {
  const { seq, at } = entry
  add(document, { seq, role: 'assistant', ...of, to: null, text: '', parts: [], usage: null, at })
}

function applyReply(document: DocumentFold, entry: Entry & { type: 'end'; kind: 'model' }): void {
  const { body, place, seq, at } = entry
  const usage = emptyCounters()
  addModelCall(usage, body.usage)
  addCounters(document.usage, usage)
  const toolCalls = (body.offered ? body.toolCalls : []).map((call) => shownCall(document, call, place.call))
  const { admitted = toolCalls.length } = body
  for (const refused of toolCalls.slice(admitted)) refused.result = refusedResult(admitted)
  if (body.purpose !== undefined || (body.text === '' && toolCalls.length === 0)) return
  document.agents.add(place.author)
  const said = { role: 'assistant' as const, author: place.author, to: null, text: body.text }
  const { reasoning } = body
  const shown = reasoning === undefined ? {} : { reasoning }
  add(document, { seq, ...said, parts: partsOf(body.text), toolCalls, usage, ...shown, at })
}

/** The answer of a workflow, or of an agent on another server, as a message of it. */
function applyAnswer(document: DocumentFold, { body, place, seq, at }: Entry & { type: 'end'; kind: 'agent' }): void {
  if (body.sources !== undefined) addSources(document, body)
  if (!document.answerers.has(place.call) || body.text === '') return
  const said = { role: 'assistant' as const, author: place.author, to: null, text: body.text }
  document.agents.add(place.author)
  add(document, { seq, ...said, parts: partsOf(body.text), toolCalls: [], usage: null, at })
}

/** A draft stays in the document, marked as one. */
function applyCritique({ messages }: DocumentFold, { verdict, seq }: CritiqueBody): void {
  if (verdict !== 'revise') return
  const draft = messages.findLast((one) => one.seq === seq && one.role === 'assistant')
  if (draft !== undefined) draft.draft = true
}

/** What people and models read is what a hook or a guardrail wrote: the message that began the call, or its answer. */
function applyDecision({ messages, callers }: DocumentFold, place: CallPlace, decision: Decision): void {
  const { at } = decision
  const isAnswer = at === 'afterRun' || at === 'answered'
  const written = isAnswer && isRefusal(decision) ? refusedAnswer : decision.written
  if (typeof written !== 'string') return
  const { from = 0 } = callers.get(place.call) ?? {}
  const last =
    at === 'beforeRun'
      ? messages.findLast((one) => one.role === 'user' && one.author !== 'witan' && one.seq <= from)
      : isAnswer
        ? messages.findLast((one) => one.role === 'assistant' && one.author === place.author)
        : undefined
  if (last === undefined || last.toolCalls.length > 0) return
  last.text = written
  last.parts = partsOf(written)
}

/** A draft whose revision has failed is the answer again. */
function undraft({ messages }: DocumentFold, author: string): void {
  const last = messages.findLast((one) => one.role === 'assistant' && one.author === author && one.draft === true)
  delete last?.draft
}

/** The message that ended a call says which passages it names. */
function addSources({ messages }: DocumentFold, { text, sources }: AgentEndBody): void {
  const said = messages.findLast((one) => one.role === 'assistant' && one.text === text)
  if (said !== undefined && sources !== undefined) said.sources = [...sources]
}

function shownCall(document: DocumentFold, { id, name, arguments: written }: LoggedToolCall, owner: string): ShownCall {
  const cost = { startedAt: null, endedAt: null, usage: null }
  const shown: ShownCall = { id, name, written, result: null, document: null, cost }
  document.asked.set(`${owner} ${id}`, shown)
  return shown
}

function say(
  document: DocumentFold,
  { seq, at }: Entry,
  what: Pick<KeptMessage, 'role' | 'author' | 'to' | 'text' | 'plainText' | 'parts'> &
    Partial<Pick<Message, 'authorKind'>>,
): void {
  add(document, { seq, ...what, toolCalls: [], usage: null, at })
}

function add(
  { messages }: DocumentFold,
  message: Omit<KeptMessage, 'part' | 'authorKind'> & Partial<Pick<KeptMessage, 'authorKind'>>,
): void {
  const last = messages.at(-1)
  messages.push({
    ...message,
    authorKind: message.authorKind ?? authorKindOf(message.author),
    part: last?.seq === message.seq ? last.part + 1 : 0,
  })
}

function partsOf(text: string, files?: readonly FileReference[]): Message['parts'] {
  const said: Message['parts'] = text === '' ? [] : [{ type: 'text', text }]
  return files === undefined ? said : [...said, ...files.map((file) => ({ type: 'file' as const, ...file }))]
}
