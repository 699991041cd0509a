/** Reads the message that somebody sends: what it says, what it answers, and how it is to be answered. */
import { chainInside, type GivenChains, relayOf } from '@witan/core/tooling'
import type { Prompt } from '@witan/protocol'
import { A2aError } from './a2a-error.ts'
import type { GivenEvidence } from './evidence.ts'
import { type AnswerModes, readModes } from './modes.ts'
import { fieldAt, fieldOf, isObject } from './wire.ts'

/** An answer to something that a task asked. */
type GivenAnswer = { readonly id: string; readonly answer: unknown } | { readonly id: string; readonly error: string }

/** A message, read. Nothing else that it holds is kept. */
export interface ReadMessage {
  readonly messageId: string
  readonly contextId: string | null
  readonly taskId: string | null
  /** Null if it only answers. */
  readonly prompt: Prompt | null
  /** The text alone, if it has no other part. */
  readonly text: string | null
  readonly answers: readonly GivenAnswer[]
  /** Set for a message that resolves a condition, and is nothing else. */
  readonly resolution: GivenResolution | null
  readonly returnImmediately: boolean
  readonly historyLength: number | null
  readonly modes: AnswerModes
  /** The tasks that it refers to. */
  readonly references: readonly string[]
  /** The chains that its metadata names, not checked yet. */
  readonly chains: Pick<GivenChains, 'message' | 'capabilities'>
  readonly mentionRelay: 'inline' | null
  /** The budget that its metadata names, not checked yet. */
  readonly budget: unknown
  /** Its evidence, not checked yet. */
  readonly evidence: GivenEvidence
}

/** What resolves a condition, and the state that came with that; undefined for none. */
export interface GivenResolution {
  readonly state: unknown
  readonly resolution: Readonly<Record<string, unknown>>
}

type PromptPart = Exclude<Prompt, string>[number]

const mostMessageId = 200

/** Reads the parameters of a message. Throws `INVALID_PARAMS`, and `CONTENT_TYPE_NOT_SUPPORTED` for a part that is only a URL. */
export function readMessage(params: unknown): ReadMessage {
  const message = fieldOf(params, 'message')
  if (!isObject(message)) throw invalid('`message` must be an object')
  const messageId = fieldAt(message, 'messageId')
  if (typeof messageId !== 'string' || messageId === '' || messageId.length > mostMessageId)
    throw invalid(`\`message.messageId\` must be a text of 1 to ${mostMessageId} characters`)
  if (fieldOf(message, 'role') !== 'ROLE_USER') throw invalid('`message.role` must be "ROLE_USER"')
  const parts = fieldOf(message, 'parts')
  if (!Array.isArray(parts) || parts.length === 0) throw invalid('`message.parts` must be a list of at least one part')
  if (parts.length > mostParts) throw invalid(`\`message.parts\` may have at most ${mostParts} parts`)
  const content = contentOf(parts)
  const configuration = configurationOf(fieldOf(params, 'configuration'))
  const metadata = fieldOf(message, 'metadata')
  const mentionable = fieldOf(metadata, 'mentionable')
  const taskId = idAt(message, 'taskId')
  const resolution = resolutionIn(parts, fieldOf(mentionable, 'policy_resolution'))
  if (resolution !== null && (content.answers.length > 0 || (taskId !== null && content.prompt !== null)))
    throw invalid('`message.parts` of a resolution on a task may hold nothing else')
  const capabilities = fieldOf(mentionable, 'recipient_capabilities')
  return {
    messageId,
    contextId: idAt(message, 'contextId'),
    taskId,
    references: referencesIn(message),
    ...content,
    ...configuration,
    resolution,
    chains: { message: fieldOf(mentionable, 'agent_chain'), capabilities: chainInside(capabilities) },
    mentionRelay: relayOf(capabilities),
    budget: fieldOf(fieldOf(metadata, 'witan'), 'budget'),
    evidence: {
      evidence: fieldOf(mentionable, 'identity_evidence'),
      credentials: fieldOf(mentionable, 'verifiable_credentials'),
    },
  }
}

const mostParts = 1_000

/** An id that may be absent; an empty one is. */
export function idAt(from: unknown, name: string): string | null {
  const id = fieldAt(from, name)
  if (id === undefined || id === null || id === '') return null
  if (typeof id !== 'string' || id.length > 400) throw invalid(`\`${name}\` must be a text of at most 400 characters`)
  return id
}

/** How much history is wanted; null for all of it. */
export function historyLengthAt(from: unknown): number | null {
  const length = fieldAt(from, 'historyLength')
  if (length === undefined || length === null) return null
  if (!Number.isSafeInteger(length) || (length as number) < 0)
    throw invalid('`historyLength` must be a whole number from 0')
  return length as number
}

const mostReferences = 20

function referencesIn(message: unknown): readonly string[] {
  const given = fieldAt(message, 'referenceTaskIds') ?? []
  const isList = Array.isArray(given) && given.length <= mostReferences
  if (isList && given.every((id) => typeof id === 'string' && id.length <= 400)) return given as readonly string[]
  throw invalid(`\`message.referenceTaskIds\` must be a list of at most ${mostReferences} ids of tasks`)
}

function configurationOf(given: unknown): Pick<ReadMessage, 'returnImmediately' | 'historyLength' | 'modes'> {
  if (given !== undefined && given !== null && !isObject(given)) throw invalid('`configuration` must be an object')
  const push = fieldAt(given, 'taskPushNotificationConfig') ?? null
  if (push !== null) throw new A2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'This agent sends no push notifications.')
  const returnImmediately = fieldAt(given, 'returnImmediately') ?? false
  if (typeof returnImmediately !== 'boolean') throw invalid('`configuration.returnImmediately` must be true or false')
  const modes = readModes(fieldAt(given, 'acceptedOutputModes'))
  return { returnImmediately, historyLength: historyLengthAt(given), modes }
}

/** The parts of a message: texts and data are its prompt, files come after them, and answers go to what was asked. */
function contentOf(parts: readonly unknown[]): Pick<ReadMessage, 'prompt' | 'text' | 'answers'> {
  const texts: string[] = []
  const data: string[] = []
  const files: PromptPart[] = []
  const answers: GivenAnswer[] = []
  for (const [index, part] of parts.entries()) {
    const path = `message.parts[${index}]`
    const kinds = ['text', 'raw', 'url', 'data'].filter((kind) => fieldOf(part, kind) !== undefined)
    if (kinds.length !== 1) throw invalid(`\`${path}\` must have exactly one of text, raw, url and data`)
    const [kind] = kinds
    const value = fieldOf(part, kind ?? '')
    if (kind === 'url')
      throw new A2aError(
        'CONTENT_TYPE_NOT_SUPPORTED',
        `\`${path}\` is a URL, which is never fetched. Send its content.`,
      )
    if (kind === 'text') {
      if (typeof value !== 'string') throw invalid(`\`${path}.text\` must be a text`)
      texts.push(value)
    } else if (kind === 'raw') files.push(fileOf(part, value, path))
    else if (!isResolution(part)) {
      const answer = answerOf(value, path)
      if (answer === null) data.push(JSON.stringify(value) ?? 'null')
      else answers.push(answer)
    }
  }
  const words = [...texts, ...data].join('\n\n')
  if (answers.length > 0) {
    if (words.trim() !== '' || files.length > 0)
      throw invalid('`message.parts` may hold answers, or what is a message of its own, but not both')
    return { prompt: null, text: null, answers }
  }
  if (words.trim() === '' && files.length === 0) {
    if (parts.some(isResolution)) return { prompt: null, text: null, answers: [] }
    throw invalid('`message.parts` says nothing')
  }
  const prompt: PromptPart[] = words.trim() === '' ? files : [{ type: 'text', text: words }, ...files]
  return { prompt, text: files.length + data.length === 0 ? words : null, answers: [] }
}

/** A resolution stands in the metadata. Beside it there is a part of its type; or the message of a task once more, as others send it. */
function resolutionIn(parts: readonly unknown[], given: unknown): GivenResolution | null {
  if (given === undefined && !parts.some(isResolution)) return null
  const { in_reply_to_state: state, ...resolution } = isObject(given) ? given : {}
  return { state, resolution }
}

function isResolution(part: unknown): boolean {
  return fieldOf(fieldOf(part, 'data'), 'type') === 'policy_resolution'
}

/** Base64 as the API takes it: it may come as it is written for URLs, and without its end. What is none stays so. */
function standardBase64(text: string): string {
  if (!text.includes('-') && !text.includes('_')) return text.padEnd(Math.ceil(text.length / 4) * 4, '=')
  // Bytes are many times as fast as replacing letters, of which a file has millions.
  const bytes = Buffer.from(text, 'base64url')
  const digits = text.slice(0, text.endsWith('==') ? -2 : text.endsWith('=') ? -1 : undefined)
  return bytes.toString('base64url') === digits ? bytes.toString('base64') : text
}

/** A file as the API takes it. */
function fileOf(part: unknown, raw: unknown, path: string): PromptPart {
  if (typeof raw !== 'string') throw invalid(`\`${path}.raw\` must be base64`)
  const given = fieldAt(part, 'mediaType')
  const type = typeof given === 'string' && given !== '' ? given : 'application/octet-stream'
  const mediaType = (type.split(';', 1)[0] ?? '').trim().toLowerCase()
  const name = fieldOf(part, 'filename')
  return {
    type: 'file',
    mediaType,
    data: standardBase64(raw),
    ...(typeof name === 'string' && name !== '' ? { name } : {}),
  }
}

/** What data parts of this server's own types say; null for any other data, which is part of the prompt. */
function answerOf(data: unknown, path: string): GivenAnswer | null {
  const type = fieldOf(data, 'type')
  if (type === 'question' || type === 'action' || type === 'policy')
    throw invalid(`\`${path}\` has the type "${type}", which only an agent sends`)
  if (type !== 'answer') return null
  const id = fieldOf(data, 'id')
  if (typeof id !== 'string') throw invalid(`\`${path}.data.id\` must be the id of what was asked`)
  const error = fieldOf(data, 'error')
  const answer = fieldOf(data, 'answer')
  if ((error === undefined) === (answer === undefined))
    throw invalid(`\`${path}.data\` must have exactly one of answer and error`)
  if (error === undefined) return { id, answer }
  if (typeof error !== 'string' || error === '') throw invalid(`\`${path}.data.error\` must say in words what failed`)
  return { id, error }
}

/** The error for parameters that do not fit. */
export function invalid(problem: string): A2aError {
  return new A2aError('INVALID_PARAMS', `${problem}.`)
}
