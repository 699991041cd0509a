/** A model call as readers see it. */
import type { ModelCall, ModelCallLine } from '@witan/protocol/schemas'
import type { FileReference } from '@witan/protocol/files'
import { isTextType } from '@witan/protocol/files'
import { type LoadContent, withContents } from '../../conversation/with-files.ts'
import { isoDate } from '../../event/project.ts'
import { jsonBytes } from '../../identity/json-pieces.ts'
import { pause } from '../../identity/turn.ts'
import { critiqueSchema } from '../../model/critique.ts'
import { ModelCallError, type Model, type ModelRequest, type ModelTool } from '../../model/model.ts'
import type { ModelMessage } from '../../model/message.ts'
import { changedParts } from '../../run/request-digest.ts'
import { type Mask, masked, maskedOnce, maskedValue } from './mask.ts'
import type { ModelCallRow } from './rows.ts'

/** What showing a model call needs. */
export interface ShowContext {
  readonly mask: Mask
  /** The model of that name, if this runtime has it. */
  model(name: string): Pick<Model, 'takes'> | null
  /** The content of a file. */
  readonly load: LoadContent
}

type ShownRequest = NonNullable<ModelCall['request']>
type ShownMessage = ShownRequest['messages'][number]
type ShownReply = NonNullable<ModelCall['reply']>

/** How many bytes of JSON one model call has at most. */
const mostBytes = 4 * 1_048_576

/** A line of the list. */
export async function modelCallLine(row: ModelCallRow, context: ShowContext): Promise<ModelCallLine> {
  return (await parts(row, context)).line
}

/** The whole model call. If it would be too long, its oldest messages are left out. */
export async function wholeModelCall(row: ModelCallRow, context: ShowContext): Promise<ModelCall> {
  const { line, request, reply } = await parts(row, context)
  if (request === null) return { ...line, request, reply }
  const { messages } = request
  let left =
    mostBytes - (await jsonBytes({ ...line, request: { ...request, messages: [] }, reply, leftOut: messages.length }))
  let from = messages.length
  for (; from > 0; from -= 1) {
    left -= (await jsonBytes(messages[from - 1])) + 1
    if (left < 0) break
  }
  if (from === 0) return { ...line, request, reply }
  return { ...line, request: { ...request, messages: messages.slice(from) }, reply, leftOut: from }
}

interface Parts {
  readonly line: ModelCallLine
  readonly request: ShownRequest | null
  readonly reply: ShownReply | null
}

async function parts(row: ModelCallRow, context: ShowContext): Promise<Parts> {
  const { mask } = context
  mask.isUsed = false
  const request = row.made === null ? null : await shownRequest(row.made.request, row, context)
  const reply = await shownReply(row, mask)
  const { entry, call, made, place } = row
  const { body } = entry ?? {}
  const ended = entry?.type === 'end' ? entry.body : null
  const line: ModelCallLine = {
    id: row.id,
    runId: place.run,
    callId: place.call,
    agent: place.author,
    agentPath: place.agentPath,
    document: place.document,
    revision: call?.revision ?? null,
    number: row.number,
    purpose: body?.purpose ?? runningPurpose(row),
    status: entry === null ? 'running' : ended === null ? 'failed' : 'completed',
    model: ended?.asked ?? body?.model ?? call?.model ?? '',
    answeredBy: ended?.asked === undefined ? null : ended.model,
    attempt: ended?.attempt ?? made?.attempt ?? 0,
    tries: row.retries.length + 1,
    retries: await Promise.all(
      row.retries.map(async ({ at, detail }) => ({ at: isoDate(at), detail: await masked(detail, mask) })),
    ),
    startedAt: dateOf(entry === null ? row.since : (body?.startedAt ?? null)),
    endedAt: entry === null ? null : isoDate(entry.at),
    finishReason: ended?.finishReason ?? null,
    usage: ended?.usage ?? null,
    costUsd: ended?.usage?.costUsd ?? null,
    error: entry?.type === 'error' ? { code: entry.body.code, detail: await masked(entry.body.detail, mask) } : null,
    messages: made?.request.messages.length ?? 0,
    sameAsBefore: made === null ? 0 : await countSame(made.request.messages, row.before),
    tools: request?.tools.map(({ name }) => name) ?? [],
    readUpTo: ended?.readUpTo ?? (made === null || made.readUpTo === 0 ? null : made.readUpTo),
    ...exactness(row),
    masked: mask.isUsed,
  }
  return { line, request, reply }
}

/** What a call that is under way is for. */
function runningPurpose({ made, call }: ModelCallRow): ModelCallLine['purpose'] {
  if (made === null || call === null || call.final === null) return 'answer'
  const { toolChoice, output } = made.request
  if (toolChoice === 'required') return 'output'
  return output?.schema === critiqueSchema ? 'critique' : 'answer'
}

function exactness({ entry, made }: ModelCallRow): Pick<ModelCallLine, 'exact' | 'changed'> {
  const digest = entry?.body.digest
  if (digest === undefined || made === null) return { exact: null }
  const changed = changedParts(digest, made.digest)
  return changed.length === 0 ? { exact: true } : { exact: false, changed: [...changed] }
}

/** What the last moment of a time is, in ms. */
const lastTime = 8_640_000_000_000_000

function dateOf(at: number | null): string | null {
  return at === null || Math.abs(at) > lastTime ? null : isoDate(at)
}

/** How many of the messages, from the first on, stood in the request before. Messages are made once, so most are the same objects. */
async function countSame(messages: readonly ModelMessage[], before: readonly ModelMessage[]): Promise<number> {
  const most = Math.min(messages.length, before.length)
  for (let at = 0; at < most; at += 1) {
    const [one, other] = [messages[at] as ModelMessage, before[at] as ModelMessage]
    if (one === other) continue
    await pause()
    if (one.content !== other.content || JSON.stringify(one) !== JSON.stringify(other)) return at
  }
  return most
}

async function shownReply({ entry, summary }: ModelCallRow, mask: Mask): Promise<ShownReply | null> {
  if (entry?.type !== 'end') return null
  const { text, toolCalls, reasoning = null } = entry.body
  return {
    text: await masked(text === '' ? summary : text, mask),
    toolCalls: await Promise.all(toolCalls.map((one) => shownCall(one, mask))),
    reasoning: reasoning === null ? null : await masked(reasoning, mask),
  }
}

async function shownRequest(
  request: ModelRequest,
  { call }: ModelCallRow,
  { mask, model, load }: ShowContext,
): Promise<ShownRequest> {
  const asked = call === null ? null : model(call.model)
  const { messages, files } = await loaded(request.messages, asked ?? {}, load)
  const shown: ShownMessage[] = []
  for (const [at, message] of messages.entries()) {
    await pause()
    shown.push(
      message === request.messages[at]
        ? await maskedOnce(message, mask, (one) => shownMessage(one, mask, []))
        : await shownMessage(message, mask, files.get(at) ?? []),
    )
  }
  const tools: ShownRequest['tools'] = []
  for (const tool of request.tools) tools.push(await maskedOnce(tool, mask, (one) => shownTool(one, mask)))
  const { toolChoice, temperature, reasoningEffort, maxOutputTokens = null, output } = request
  return {
    messages: shown,
    tools,
    toolChoice,
    temperature,
    reasoningEffort,
    maxOutputTokens,
    output: output === null ? null : { name: output.name, schema: maskedValue({ ...output.schema }, mask) },
  }
}

/** The messages with the content of text files. A file that the model refused leaves them as they were. */
async function loaded(messages: readonly ModelMessage[], model: Pick<Model, 'takes'>, load: LoadContent) {
  const texts = new Set<string>()
  const all = new Map<number, readonly FileReference[]>()
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'user' || message.attached === undefined) continue
    all.set(at, message.attached)
    for (const { digest, mediaType } of message.attached) if (isTextType(mediaType)) texts.add(digest)
  }
  if (all.size === 0) return { messages, files: all }
  try {
    // The bytes of other files are not shown.
    return await withContents(messages, model, async (digest) => (texts.has(digest) ? load(digest) : ''))
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error
    return { messages: messages.map((message) => ({ ...message })), files: all }
  }
}

async function shownMessage(message: ModelMessage, mask: Mask, files: readonly FileReference[]): Promise<ShownMessage> {
  const shown: ShownMessage = { role: message.role, content: await masked(message.content, mask) }
  if (message.role === 'tool') {
    shown.toolCallId = await masked(message.toolCallId, mask)
    shown.name = await masked(message.name, mask)
  }
  if (message.role === 'user' && files.length > 0) {
    shown.attached = []
    for (const { name, mediaType, bytes, digest } of files)
      shown.attached.push({ name: name === null ? null : await masked(name, mask), mediaType, bytes, digest })
  }
  if (message.role !== 'assistant') return shown
  if (message.toolCalls !== undefined) {
    shown.toolCalls = []
    for (const one of message.toolCalls) shown.toolCalls.push(await shownCall(one, mask))
  }
  if (message.kept !== undefined)
    shown.kept = { by: await masked(message.kept.by, mask), bytes: await jsonBytes(message.kept.parts) }
  return shown
}

async function shownCall(
  { id, name, arguments: written }: ShownReply['toolCalls'][number],
  mask: Mask,
): Promise<ShownReply['toolCalls'][number]> {
  return { id: await masked(id, mask), name: await masked(name, mask), arguments: await masked(written, mask) }
}

async function shownTool(
  { name, description, parameters }: ModelTool,
  mask: Mask,
): Promise<ShownRequest['tools'][number]> {
  return {
    name: await masked(name, mask),
    description: await masked(description, mask),
    parameters: maskedValue({ ...parameters }, mask),
  }
}
